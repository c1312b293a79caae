# Conduct the run while the block runs; where another flow does so already, this one works beside it. An empty id means no run.
from .conductor import conducting as conducting

# Raise UsageError where a helper is told of no run.
from .conductor import require_run as require_run

# Wait until the run's conductor is done; where it was killed, conduct the run in its place while the block runs.
from .conductor import succeeding as succeeding

# Where `proctor worker` says to the runs that it starts which worker they are on.
from .names import WORKER_VARIABLE as WORKER_VARIABLE

# The pool of our workers; those of other kinds are named `proctor-KIND`.
from .names import WORK_POOL as WORK_POOL

# Start a helper on every other worker of the pool that has a queue of its own, for the run that this flow conducts.
from .task import ask_for_help as ask_for_help

__all__ = [
    "WORKER_VARIABLE",
    "WORK_POOL",
    "ask_for_help",
    "conducting",
    "require_run",
    "succeeding",
]
