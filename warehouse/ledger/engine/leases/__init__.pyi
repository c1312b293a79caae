# Pieces of work that one process at a time does, for all processes and hosts of an installation: who waits, who holds.
from . import jobs as jobs

# The time that deadlines are decided by: the database's clock, as far as something besides it shows that it is right.
from . import clock as clock

# Processes that make calls: each has a lease that it renews, so that others know whose work is still under way; hosts and the dead.
from . import processes as processes

# A thread that renews a lease in the ledger as long as the work goes on.
from . import renewal as renewal
