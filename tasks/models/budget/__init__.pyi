# Let a run spend up to `limit_usd` from now on; the limits before it stay on record.
from .accounts import raise_limit as raise_limit

# The money of a run, or of what stands for one (a league, a month of `ingest --assist`); raises UsageError for neither.
from .accounts import read_run_account as read_run_account

# Money that one piece of work may spend, shared by all its calls in this process.
from .reservations import Budget as Budget

# The operation, and its row, that forgets what a provider was counted to cost: calls without a limit are not counted.
from .reservations import close_provider_budget as close_provider_budget

# Cost in USD; null where a price or a count is unknown.
from .reservations import compute_cost as compute_cost

# The most that one attempt can cost, in USD; raises BudgetError where that cannot be known.
from .reservations import compute_worst_cost as compute_worst_cost

# The budget of a run, less what its calls have cost before and cost in other processes now; null for no limit.
from .reservations import open_budget as open_budget

# What all calls of a model's provider may cost together, whatever they are for; null for no limit.
from .reservations import open_provider_budget as open_provider_budget

# Money that one run, or one provider, may be paid, shared by all processes of the installation.
from .reservations import SharedBudget as SharedBudget
