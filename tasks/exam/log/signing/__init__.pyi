# What a candidate signs with each answer.
from .keys import describe_answer as describe_answer

# What a signed head signs.
from .keys import describe_head as describe_head

# What a receipt signs.
from .keys import describe_receipt as describe_receipt

# Whether a signature is that of the key over the object; false for anything that is no signature.
from .keys import is_signed as is_signed

# The key of this home.
from .keys import LogSigner as LogSigner

# Where the key of this home lies.
from .keys import name_key_file as name_key_file

# The key in `secrets/log-key.json` of the home, made when there is none.
from .keys import open_signer as open_signer

# A public key, given as PEM or as 32 bytes in base64, in the form in which it is kept.
from .keys import read_public_key as read_public_key

# Check the signature; and, with a ledger at hand, the entry of the audit log that the receipt names.
from .receipts import check_receipt as check_receipt

# The receipts in a file: one JSON object, a list of them, or one a line; each alone, or as `receipt` of a reply.
from .receipts import read_receipts as read_receipts

__all__ = [
    "LogSigner",
    "check_receipt",
    "describe_answer",
    "describe_head",
    "describe_receipt",
    "is_signed",
    "name_key_file",
    "open_signer",
    "read_public_key",
    "read_receipts",
]
