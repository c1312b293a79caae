# Start what follows a completed batch in a process of its own, which outlives this one; for a server that must answer.
from .continuation import begin_continuation as begin_continuation

# What came of decisions handed in, and of each batch that is complete by them: how what follows was started.
from .continuation import Continuation as Continuation

# Whether a worker may listen.
from .continuation import is_worked as is_worked

# What follows when somebody asks for a paper to be read by a model.
from .continuation import READING as READING

# Record what a channel reads, and start what follows the batches that are complete by it.
from .continuation import record_and_continue as record_and_continue

# Raise UsageError unless something limits what scheduled runs may spend: nobody looks at their plans first.
from .deploying import check_budget as check_budget

# Register every deployment of the manifest with the running server; returns their names. Twice changes nothing.
from .deploying import deploy_flows as deploy_flows

# The deployment of that name; raises UsageError with the names that there are.
from .deploying import find_deployment as find_deployment

# The deployments whose runs cost money.
from .deploying import PAID as PAID

# The kinds of work pool that a deployment can have.
from .deploying import POOL_KINDS as POOL_KINDS

# What deployments/prefect.yaml lists, in its order.
from .deploying import read_deployments as read_deployments

# Let a worker run a deployment, with the parameters that it has, and return the id of the run at once.
from .deploying import start_on_worker as start_on_worker

# Start this process again without the keys of models, where it was given any.
from .environment import leave_keys_behind as leave_keys_behind

# The variables that the registry takes keys from; none where it cannot be read.
from .environment import read_key_variables as read_key_variables

# Start this process again with these variables alone, unless it has no others, or runs within another program.
from .environment import start_again as start_again

# Import a flow with Prefect's environment set first: Prefect reads it once, on import.
from .flow_runner import load_flow as load_flow

# Run `flows/<name>.py` in this process and return what it returns (ids and counts).
from .flow_runner import run_flow as run_flow

# Wait until Prefect has the lines and events of this process; before the server that they go to is stopped.
from .flow_runner import send_what_is_left as send_what_is_left
