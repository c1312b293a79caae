# A run and how it is.
from .listing import FlowRunState as FlowRunState

# The runs that began last, the newest first.
from .listing import list_run_states as list_run_states

# Note runs as crashed whose process is gone; returns those that nobody else had noted.
from .listing import end_lost_runs as end_lost_runs

# Whether a run's process is gone.
from .listing import is_lost as is_lost

# Pass unless times or months of a schedule are refused.
from .missed import check_schedule as check_schedule

# Deployments whose last time, or one within `LOOKS_BACK`, passed without a run; a run that failed did happen.
from .missed import find_missed_runs as find_missed_runs

# Note in the audit log that a month which was missed is to have no run.
from .missed import leave_month_out as leave_month_out

# The deployment that examines a month; each month of it that passed without a run is one of its own.
from .missed import MONTHLY as MONTHLY

# A schedule of which times passed without a run: none was started, or the run was cancelled for want of a place.
from .missed import MissedRun as MissedRun

# Those for which nothing has made up yet.
from .missed import select_unmade as select_unmade

# Runs that begin within the block are runs of that deployment, as if a person had started it.
from .record import as_deployment as as_deployment

# The deployment that this process was asked to run; null without one.
from .record import name_deployment as name_deployment

# Seconds for which work that another process holds is waited for: a lease in the place of a process that is gone.
from .record import compute_patience as compute_patience

# Note how a run ended: `completed`, `failed`, `crashed` or `cancelled`.
from .record import note_end as note_end

# Keep the ids and counts of the run that is under way here.
from .record import note_result as note_result

# Note that a run begins.
from .record import note_start as note_start

# A run without a server: noted at its beginning and at its end, however it ends.
from .record import recorded_run as recorded_run

# A run that begins.
from .record import StartedRun as StartedRun
