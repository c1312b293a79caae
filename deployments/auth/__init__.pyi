# The accounts of the desk, as kinds of sign-in meet them: who may come in, and in which role.
from .accounts import DeskAccounts as DeskAccounts

# Attempts to sign in by way of another site: begun here, and finished by the same browser or not at all.
from .sessions import Attempts as Attempts

# Refuses large bodies with 413, the character zero in an address with 400; answers any fault with 500 (503 for the ledger) and logs its class only.
from .guard import Guard as Guard

# The largest body that a request may have.
from .guard import LARGEST_BODY_BYTES as LARGEST_BODY_BYTES

# Whether a text in it holds the character zero, which PostgreSQL keeps in no text and DuckDB finds in none.
from .guard import has_zero as has_zero

# The kinds of sign-in that an installation offers, by name; raises UsageError for one that cannot be.
from .opened import open_kinds as open_kinds

# Where browsers reach the desk; raises UsageError where that is not set.
from .opened import read_desk_address as read_desk_address

# The longest password, in characters.
from .passwords import MOST_CHARACTERS as MOST_CHARACTERS

# Whether the password fits; takes as long for a user who does not exist, so that names cannot be probed.
from .passwords import check_password as check_password

# An argon2id hash with its own salt.
from .passwords import hash_password as hash_password

# A browser that has signed in is known so long, so that nobody's guesses keep its owner out.
from .sessions import DEVICE_S as DEVICE_S

# A working day: who comes back tomorrow signs in again.
from .sessions import SESSION_S as SESSION_S

# Sessions of one server: started, read and ended.
from .sessions import Sessions as Sessions

# Somebody who is signed in: their name, role, and the session that says so.
from .sessions import SignedIn as SignedIn

# The key that signs cookies and forms; raises StoreError when others may read it.
from .sessions import read_cookie_key as read_cookie_key

# What became of a password: right, wrong, to wait, or busy.
from .sign_in import Outcome as Outcome

# The checks of one kind of sign-in at one server, each in its turn and counted.
from .sign_in import PasswordDoor as PasswordDoor

# The decisions that there are about what a team sees at an address, a sentence for each.
from .team_routes import read_decisions as read_decisions

# Application → route (`GET /runs`) → what was decided of it.
from .team_routes import read_team_routes as read_team_routes

# Why a password is refused, as one sentence.
from .passwords import Weakness as Weakness

# Why a new password is refused for a user; null for one that may be taken.
from .passwords import find_weakness as find_weakness
