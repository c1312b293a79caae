# The key set of a home, read again when its file changes; made when there is none.
from .keys import KeyFile as KeyFile

# The keys of an installation, the present one first.
from .keys import KeySet as KeySet

# The signing keys of the installation, `exam-keys.json` among its secrets.
from .keys import open_keys as open_keys

# Put a new key in the place of the present one.
from .keys import rotate_keys as rotate_keys

# What a verified token says.
from .tokens import Claims as Claims

# The lease secret of in-house sittings: the same on every start, so that a restarted process is the same holder.
from .tokens import derive_lease_secret as derive_lease_secret

# Sign a token that lives `ttl_s` seconds, or the longest that any may; raises UsageError for an unknown permission.
from .tokens import issue_token as issue_token

# What a role may do. `sit` works only on the session that the token names.
from .tokens import PERMISSIONS as PERMISSIONS

# What a token that we signed says, expired and ended or not; null for what we did not sign.
from .tokens import read_caller as read_caller

# The id that is meant: of a token that is given whole, whoever signed it, or the id itself.
from .tokens import read_token_id as read_token_id

# Tokens of one process, each with its signature verified once.
from .tokens import VerifiedTokens as VerifiedTokens
