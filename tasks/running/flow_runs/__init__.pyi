# Raise FlowError when documents were found and none of them could be read.
from .success import check_ingested as check_ingested

# Raise FlowError when every judgement failed.
from .success import check_judged as check_judged

# Raise GateError when a second person must agree before what was to be done is done.
from .success import check_not_waiting as check_not_waiting

# Raise FlowError when rounds of a league were to be played and none was finished.
from .success import check_played as check_played

# Raise GateError when a gate kept the run from being published.
from .success import check_published as check_published

# Raise FlowError when sessions stayed open and no question was answered.
from .success import check_sat as check_sat

# Raise FlowError when no model answered any question of CG-Eval.
from .success import check_written as check_written

# Make a function a flow; Prefect's, where this process has imported Prefect.
from .steps import flow as flow

# A flow as Prefect knows it, wherever it was imported.
from .steps import make_known as make_known

# Make a function a step of flows; a task of Prefect's in a run of Prefect's.
from .steps import step as step

# Put the ids and counts of a flow beside its run: in the ledger, and in Prefect with links to the pages that it wrote.
from .task import publish_summary as publish_summary

# Raise BudgetError where a deployment started this run and nothing limits what it may spend: nobody looks at its plan first.
from .task import require_budget as require_budget

# For tasks that end the same however often they are done, and whose stores or disks may be away for a moment.
from .task import RETRIED as RETRIED

# Lines about sessions that stayed open, counted by their cause; none where there are none.
from .success import describe_left_open as describe_left_open

# Call the function of a flow, without Prefect, and record the run.
from .task import run_plainly as run_plainly

# How far the task is stands beside its run in Prefect, renewed every quarter of a minute: a number, and of what.
from .task import show_progress as show_progress
