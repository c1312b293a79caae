# Claims on paid work: whoever holds one works, for all processes and hosts of an installation.
from . import claims as claims

# The time that deadlines are decided by: the database's clock, as far as something besides it shows that it is right.
from . import clock as clock

# Processes that make calls: each has a lease that it renews, so that others know whose work is still under way.
from . import processes as processes

# A thread that renews a lease in the ledger as long as the work goes on.
from . import renewal as renewal

__all__ = [
    "claims",
    "clock",
    "processes",
    "renewal",
]
