# Reading the audit log: in pages, by session, by what entries were done to; and the heads that were signed.
from . import access as access

# The hashes of a session's answers, by which a log names them.
from . import answer_hashes as answer_hashes

# Requests that need a second person: asked, approved or refused, and used once.
from . import approvals as approvals

# The roots of published editions: kept once, never changed, so that the lake can be held to what was published.
from . import editions as editions

# What was erased of answers, and the proof that stays: who did it, when and why, and a hash for every text that was there.
from . import erasures as erasures

# What a session was landed from, said by the audit log in one hash.
from . import landed as landed

# Organisations as the ledger counts them: one row for each name in normal form, other names pointing to the one meant.
from . import organisations as organisations

# What the ledger holds of the things that entries of the audit log fix, as the check of the log reads it.
from . import sealed_state as sealed_state

# Entries of the audit log that fix the state that was written with them, by its digest (`digests.py`).
from . import seals as seals

# Users: people with a role, and candidates with the organisation that owns them.
from . import users as users

# What the ledger holds of one answer on the way from its star back to the paper, with the entries that fix it.
from . import walks as walks

# Who is signed in at the web desk.
from . import web_sessions as web_sessions
