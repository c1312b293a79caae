# One hash chain over every entry of the audit log, whatever session it is of.
from . import chain as chain

# What entries of the audit log fix besides themselves: a SHA-256 of the state that was written with them.
from . import digests as digests

# The public log: what an installation lets everybody see of what it does, one chain of lines, to the byte (docs/verify.md).
from . import public_log as public_log

# The signed state of each stage: what a unit of it holds, closed in the audit log.
from . import stages as stages

# A transaction of the ledger in which logs gather their entries.
from .gathered import gathering as gathering

# Whether a transaction of the ledger that writes is open.
from .gathered import is_gathering as is_gathering

# Write what the transaction gathered for each log; the last thing before it is committed.
from .gathered import write_gathered as write_gathered
