# Pieces of work that one process at a time does, for all processes and hosts of an installation: who waits, who holds.
from . import jobs as jobs

# The time that deadlines are decided by: the database's clock, as far as something besides it shows that it is right.
from . import clock as clock

# Leases of processes, which hold calls and jobs by them; hosts and the dead.
from . import processes as processes

# That this process is at work: its lease, renewed by a thread.
from . import presence as presence
