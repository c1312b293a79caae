# What the control answers of a run are still to cost at each judge: calls, and USD.
from .trials import estimate_controls as estimate_controls

# Runs that are not published and of which a judge was asked for control answers that have not landed.
from .landing import find_begun_controls as find_begun_controls

# Whether a name stands for control answers, where a session's name would stand.
from .landing import is_controls as is_controls

# What stands for a run's control answers where a session's name would stand.
from .landing import name_controls as name_controls

# The control answers of one run; they are drawn when they are first asked for.
from .landing import RunControls as RunControls

# The judge's stars for each of several answers of known worth; None where its replies could not be read.
from .trials import ask_trials as ask_trials

# How many control answers a judge is tried with outside a run.
from .trials import TRIAL_CONTROLS as TRIAL_CONTROLS

# The built-in questions of a language, of which a judge is given control answers outside a run.
from .trials import list_built_in as list_built_in

# Ask a judge for stars of the built-in control answers; what they say of it, and a row for each kind.
from .trials import try_controls as try_controls
