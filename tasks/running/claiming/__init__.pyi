# Hold the work `name` of a kind while the block runs, after waiting for another holder up to `wait_s`.
from .claims import claim_work as claim_work

# Hold a job while the block runs, unless a living process holds it already.
from .claims import hold_if_free as hold_if_free

# The same as `claim_work`, by a file of the home where the ledger is one.
from .claims import hold_work as hold_work

# How often who waits for a piece of work asks again.
from .claims import POLL_S as POLL_S
