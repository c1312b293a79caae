# Move the rows of every run that may go, or of the named one, and give the ledger's space back.
from .archive import archive_runs as archive_runs

# The closed runs, or the named one, that have rows in the ledger; nothing is changed.
from .archive import plan_archive as plan_archive

# Move the rows of every run that may go from the ledger to the lake.
from .task import archive_closed_runs as archive_closed_runs
