# A look at answers, as the audit log records it.
from .access import Look as Look

# The models that somebody of this role and these teams sees; empty for nobody's.
from .access import find_sight as find_sight

# Whether a model is among those that somebody sees.
from .access import is_seen as is_seen

# The models that somebody sees; None: all of them.
from .access import Sight as Sight

# Whether somebody of that role sees reference answers.
from .access import may_read_references as may_read_references

# Write that somebody looks at questions or answers, before they are shown: who, at what kind, at which id; never a text.
from .access import note_look as note_look

# Who sees runs, questions, answers and stars of every model; whoever is of a team sees those of its models, others none of it.
from .access import WATCHERS as WATCHERS

# The rows of the analysis `cost_by_team` of these months, the latest month first.
from .runs import read_costs as read_costs

# A run's progress of the candidates in sight alone, its sums too; None where none of them is in it.
from .runs import narrow_progress as narrow_progress

# The progress of all open runs; safe for threads.
from .runs import ProgressReading as ProgressReading

# The run in which a candidate gave the answers that an edition counts; null where it counts none.
from .results import find_sat_run as find_sat_run

# Months of which something is published, the latest first.
from .results import list_published_months as list_published_months

# Everything that is published of a month, by run; the month's own run before its repetitions.
from .results import read_month as read_month

# The run of that name; null for none. While it is open, and until it lands, it is read from the ledger.
from .runs import find_run as find_run

# A page of the runs in the lake, the latest first, and how many runs there are.
from .runs import list_landed_runs as list_landed_runs

# The sessions of a run by candidate, prompt style and repeat: session_id, model, prompt_style, repeat, status,
from .runs import list_sessions as list_sessions

# Runs on one page.
from .runs import RUNS_PER_PAGE as RUNS_PER_PAGE

# A run.
from .runs import WatchedRun as WatchedRun
