# Who sits what.
from .allotment import Allotment as Allotment

# The candidates that are due, by name.
from .due import list_due as list_due

# Every candidate of one kind (real or simulated) with what it is due for in `month`.
from .due import read_schedule as read_schedule

# Pass when a published run examines everybody named; raises UsageError that says how to examine the others.
from .planning import check_same_run as check_same_run

# Whether a run is one of simulated candidates: as wished, as those named are, else only where there are no real ones.
from .planning import choose_kind as choose_kind

# The plan that follows from the request and from what the ledger holds now, with the allotment that it rests on.
from .planning import compute_plan as compute_plan

# The id of a run, and the repetition that it is (empty: the month's own run).
from .planning import name_run as name_run

# Preview a run; nothing is written.
from .planning import plan_run as plan_run

# The same run with sets that give S an error of `target_se`, and what other sizes come to.
from .planning import plan_target as plan_target

# Pass when anybody can sit; raises GateError (BankTooSmall where the bank is the reason) with the numbers.
from .publishing import check_served as check_served

# Claim the plan's sets, add its sessions with their secret order, and return the run's id.
from .publishing import publish_plan as publish_plan

# What the seed of a run is mixed from.
from .request import Chance as Chance

# Everything that a plan follows from, besides the ledger.
from .request import PlanRequest as PlanRequest

# The plan as the ledger keeps it with its run; what an earlier version did not keep is empty.
from .run_plan import parse_published as parse_published

# The plan of a published run; raises UsageError when there is none of that name.
from .run_plan import read_plan as read_plan

# What a run would be, or is.
from .run_plan import RunPlan as RunPlan

# What an error of S takes.
from .target import SizeForecast as SizeForecast

# What is wished of a run; what is not said is as the settings and the month have it.
from .wishes import RunWishes as RunWishes

# What of an entry of the registry makes a candidate answer otherwise than was planned.
from .fingerprint import compare_entry as compare_entry
