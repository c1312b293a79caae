# Check everything: the chains, the signed heads here and in the file of the home, the keys, and the state that entries fix.
from .check import check_log as check_log

# Whether this home has signed heads and has no key any more.
from .check import is_log_key_lost as is_log_key_lost

# Note that the keys of this home are as they should be, although no command changed them.
from .heads import confirm_keys as confirm_keys

# Write what the file of heads lacks of this home's own, after a backup was restored; returns how many there were.
from .heads import copy_heads as copy_heads

# The entry that names the key that signs tokens; of the secret it has the hash alone.
from .heads import describe_token_keys as describe_token_keys

# Signs heads for one process.
from .heads import HeadKeeper as HeadKeeper

# The heads in the file, in its order; null for a line that is none. Nothing where there is no file.
from .heads import iter_kept_heads as iter_kept_heads

# Sign the last entry of the log and keep it; false when there is none to sign.
from .heads import keep_head as keep_head

# Where this home keeps the heads that it signed.
from .heads import name_heads_file as name_heads_file

# Let the audit log and the public log name the keys of this home before they are used: once for each key.
from .heads import note_keys as note_keys

# Let a new key sign heads and receipts, announced by both; returns the former and the new one.
from .rotation import rotate_log_key as rotate_log_key

# The language that is asked for; raises UsageError for one that there is not.
from .story import read_language as read_language

# The story of a run; raises UsageError for an unknown one.
from .story import tell_run as tell_run

# Of some sessions those that are not what their entries say, or whose texts were erased.
from .state import list_faulty_sessions as list_faulty_sessions

# Something that is not as it was written.
from .words import LogFinding as LogFinding

# What an earlier check found as it was written, and is not read again.
from .words import Seen as Seen
