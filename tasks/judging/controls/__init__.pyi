# How many of sixty control answers are of each kind.
from .drawing import CONTROL_SHARES as CONTROL_SHARES

# How many of each kind so many control answers are.
from .drawing import count_kinds as count_kinds

# What the control answers of a run are still to cost at each judge: calls, and USD.
from .estimate import estimate_controls as estimate_controls

# What so many judgements are expected to cost in USD; null when the registry has no price.
from .trials import estimate_judging as estimate_judging

# How many control answers a judge is tried with outside a run.
from .trials import TRIAL_CONTROLS as TRIAL_CONTROLS

# Ask a judge for stars of the built-in control answers; what they say of it, and a row for each kind.
from .trials import try_controls as try_controls

__all__ = [
    "CONTROL_SHARES",
    "TRIAL_CONTROLS",
    "count_kinds",
    "estimate_controls",
    "estimate_judging",
    "try_controls",
]
