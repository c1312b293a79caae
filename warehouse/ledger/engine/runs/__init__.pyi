# Runs of flows: what started each, how it ended, and what it came to in ids and counts; and the times that schedules have.
from . import flow_runs as flow_runs

# Runs that ended badly and whom that was told: each is told once, whoever found it and however often it was found.
from . import notices as notices
