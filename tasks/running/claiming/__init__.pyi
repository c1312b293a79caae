# Hold the work `name` of a kind while the block runs, after waiting for another holder up to `wait_s`.
from .claims import claim_work as claim_work

# Pieces of work of one kind that several processes share, as SharedWork does, for code that does not wait in a loop of events.
from .claims import HeldPieces as HeldPieces

# Hold the work while the block runs, unless a living process holds it already.
from .claims import hold_if_free as hold_if_free

# Wait until the work is let go of, or take it over from a holder that is gone.
from .claims import hold_if_orphaned as hold_if_orphaned

# Whether a process was on this host and is there no more.
from .claims import is_dead as is_dead

# Seconds that a claim holds without renewal.
from .claims import LEASE_S as LEASE_S

# The name of this host; in a container, with the number of its processes' own name space.
from .claims import name_host as name_host

# How often who waits for a piece of work asks again.
from .claims import POLL_S as POLL_S

# Pieces of work of one kind that several processes share: each piece is one process's at a time.
from .claims import SharedWork as SharedWork

# Hold the work `name` of a kind (`league`, `cgeval` …) while the block runs; that of the dead is let go of.
from .holds import hold_work as hold_work

__all__ = [
    "LEASE_S",
    "POLL_S",
    "HeldPieces",
    "SharedWork",
    "claim_work",
    "hold_if_free",
    "hold_if_orphaned",
    "hold_work",
    "is_dead",
    "name_host",
]
