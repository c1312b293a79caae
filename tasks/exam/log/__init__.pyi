# Check everything: the chains, the signed heads here and in the file of the home, the keys, and the state that entries fix.
from .check import check_log as check_log

# Signs heads for one process.
from .heads import HeadKeeper as HeadKeeper

# Note that the keys of this home are as they should be, although no command changed them.
from .heads import confirm_keys as confirm_keys

# Write what the file of heads lacks of this home's own, after a backup was restored; returns how many there were.
from .heads import copy_heads as copy_heads

# The entry that names the key that signs tokens; of the secret it has the hash alone.
from .heads import describe_token_keys as describe_token_keys

# The heads in the file, in its order; null for a line that is none. Nothing where there is no file.
from .heads import iter_kept_heads as iter_kept_heads

# Sign the last entry of the log and keep it; false when there is none to sign.
from .heads import keep_head as keep_head

# Where this home keeps the heads that it signed.
from .heads import name_heads_file as name_heads_file

# Let the audit log and the public log name the keys of this home before they are used: once for each key.
from .heads import note_keys as note_keys

# Check the signature; and, with a ledger at hand, the entry of the audit log that the receipt names.
from .receipts import check_receipt as check_receipt

# The receipts in a file: one JSON object, a list of them, or one a line; each alone, or as `receipt` of a reply.
from .receipts import read_receipts as read_receipts

# The key of this home.
from .signing import LogSigner as LogSigner

# What a candidate signs with each answer.
from .signing import describe_answer as describe_answer

# What a receipt signs.
from .signing import describe_receipt as describe_receipt

# Whether a signature is that of the key over the object; false for anything that is no signature.
from .signing import is_signed as is_signed

# Where the key of this home lies.
from .signing import name_key_file as name_key_file

# Host and home, as the log names whose keys are meant.
from .signing import name_place as name_place

# The key in `secrets/log-key.json` of the home, made when there is none.
from .signing import open_signer as open_signer

# A public key, given as PEM or as 32 bytes in base64, in the form in which it is kept.
from .signing import read_public_key as read_public_key

# The language that is asked for; raises UsageError for one that there is not.
from .story import read_language as read_language

# The story of a run; raises UsageError for an unknown one.
from .story import tell_run as tell_run

# Something that is not as it was written.
from .words import LogFinding as LogFinding

__all__ = [
    "HeadKeeper",
    "LogFinding",
    "LogSigner",
    "check_log",
    "check_receipt",
    "confirm_keys",
    "copy_heads",
    "describe_answer",
    "describe_receipt",
    "describe_token_keys",
    "is_signed",
    "iter_kept_heads",
    "keep_head",
    "name_heads_file",
    "name_key_file",
    "name_place",
    "note_keys",
    "open_signer",
    "read_language",
    "read_public_key",
    "read_receipts",
    "tell_run",
]
