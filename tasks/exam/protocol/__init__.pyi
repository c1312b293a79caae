# How long a session may take from its planning, and a question from its delivery; both in seconds.
from .deadlines import Deadlines as Deadlines

# The state machine. One per process; safe to use from several threads and coroutines.
from .machine import ExamProtocol as ExamProtocol

# The protocol of this installation, by the ledger's clock. An in-house lease outlasts the longest call to a model.
from .machine import make_protocol as make_protocol

# How sessions are held.
from .moves import SeatRules as SeatRules

# The secret of a lease that begins: the one that is given, else a new one.
from .seating import choose_lease_secret as choose_lease_secret

# What the ledger keeps of a lease secret.
from .seating import hash_secret as hash_secret

# What comes back for a question. Only `response` is needed; the rest is the account of the call, where known.
from .words import Answer as Answer

# The right to sit a session for a while; every call renews it.
from .words import Lease as Lease

# A question as it is put: its position and bare content. No identifier leaves the exam.
from .words import Put as Put

# Questions allocated, handed out but unanswered, and answered; `limit` on those handed out, null for none.
from .words import Quota as Quota

# An answer is durable.
from .words import Receipt as Receipt

# Where a session stands. `candidate` counts all sessions of its user; `organisation` is shown to examiners only.
from .words import SessionStatus as SessionStatus

# One line of a list of sessions. Candidates are shown neither run nor set.
from .words import SessionSummary as SessionSummary
