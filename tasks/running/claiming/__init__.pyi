# Hold the work `name` of a kind while the block runs, after waiting for another holder up to `wait_s`.
from .claims import claim_work as claim_work

# Hold a job while the block runs, unless a living process holds it already.
from .claims import hold_if_free as hold_if_free

# Seconds that a claim holds without renewal.
from .claims import LEASE_S as LEASE_S

# How often who waits for a piece of work asks again.
from .claims import POLL_S as POLL_S

# The process as one that takes jobs; each call is a holder of its own.
from .claims import make_worker as make_worker

# Hold the work `name` of a kind (`league`, `cgeval` …) while the block runs; that of the dead is let go of.
from .holds import hold_work as hold_work
