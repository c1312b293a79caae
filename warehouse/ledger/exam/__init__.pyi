# Rows of closed runs that left the ledger for the lake, and how they are read as if they had not.
from . import archives as archives

# What a run has closed, as it is to be landed: its sessions, their sets, and every answer with its question.
from . import closed as closed

# Deadlines of sessions, and what a session that is closed unfinished leaves behind.
from . import deadlines as deadlines

# Sealed draws: the secrets of a run's draw, what was committed to, and the proofs of sets, until they are disclosed.
from . import draws as draws

# What a ledger that lost commits still says: of open sessions, of replies that became no answer, and whether it knows some rows.
from . import lost_commits as lost_commits

# Planning a run: what was allocated and met before, and the sets, claims and sessions that a plan adds.
from . import plans as plans

# How far a run is, by candidate: what its sessions say, how fast they move, and what its calls have cost.
from . import progress as progress

# A session while it is sat: every statement of the protocol's hot path, and what opens and closes a session.
from . import seats as seats

# Runs and sessions of the exam as they stand, for all who ask.
from . import sittings as sittings

# Tokens that were ended before their time: single ones, and all that a user had until a moment.
from . import tokens as tokens

# What people who watch a run look at in the ledger: runs under way, what was handed out, and what was answered to it.
from . import watching as watching
