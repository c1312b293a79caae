# How long a session may take from its planning, and a question from its delivery; both in seconds.
from .deadlines import Deadlines as Deadlines

# The key set of a home, read again when its file changes; made when there is none.
from .keys import KeyFile as KeyFile

# The keys of an installation, the present one first.
from .keys import KeySet as KeySet

# The signing keys of the installation, `exam-keys.json` among its secrets.
from .keys import open_keys as open_keys

# Put a new key in the place of the present one.
from .keys import rotate_keys as rotate_keys

# The state machine. One per process; safe to use from several threads and coroutines.
from .machine import ExamProtocol as ExamProtocol

# The protocol of this installation, by the ledger's clock. An in-house lease outlasts the longest call to a model.
from .machine import make_protocol as make_protocol

# The secret of a lease that begins: the one that is given, else a new one.
from .seating import choose_lease_secret as choose_lease_secret

# What the ledger keeps of a lease secret.
from .seating import hash_secret as hash_secret

# What a role may do. `sit` works only on the session that the token names.
from .tokens import PERMISSIONS as PERMISSIONS

# The lease secret of in-house sittings: the same on every start, so that a restarted process is the same holder.
from .tokens import derive_lease_secret as derive_lease_secret

# Sign a token that lives `ttl_s` seconds, or the longest that any may; raises UsageError for an unknown permission.
from .tokens import issue_token as issue_token

# The id that is meant: of a token that is given whole, whoever signed it, or the id itself.
from .tokens import read_token_id as read_token_id

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

# How sessions are held.
from .moves import SeatRules as SeatRules

__all__ = [
    "PERMISSIONS",
    "Answer",
    "Deadlines",
    "ExamProtocol",
    "KeyFile",
    "KeySet",
    "Lease",
    "Put",
    "Quota",
    "Receipt",
    "SeatRules",
    "SessionStatus",
    "SessionSummary",
    "choose_lease_secret",
    "derive_lease_secret",
    "hash_secret",
    "issue_token",
    "make_protocol",
    "open_keys",
    "read_token_id",
    "rotate_keys",
]
