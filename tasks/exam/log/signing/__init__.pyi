# What a candidate signs with each answer.
from .keys import describe_answer as describe_answer

# What a signed head signs.
from .keys import describe_head as describe_head

# What a receipt signs.
from .keys import describe_receipt as describe_receipt

# What the former key and the new one sign when one takes the place of the other.
from .keys import describe_rotation as describe_rotation

# Whether a signature is that of the key over the object; false for anything that is no signature.
from .keys import is_signed as is_signed

# The key of this home, and who signs with it.
from .keys import LogSigner as LogSigner

# Where the key of this home lies.
from .keys import name_key_file as name_key_file

# Whether this home has a key: in its file, or with somebody who is named.
from .keys import has_signer as has_signer

# The key of this home: where `log_signer` names who holds it, else its file, made when there is none.
from .keys import open_signer as open_signer

# What changes when another key takes the place of the one that signs.
from .keys import stamp_key as stamp_key

# The key that signs, and the one that is to take its place; nobody signs until it has.
from .keys import prepare_rotation as prepare_rotation

# A public key, given as PEM or as 32 bytes in base64, in the form in which it is kept.
from .keys import read_public_key as read_public_key

# Check the signature; and, with a ledger at hand, the entry of the audit log that the receipt names.
from .receipts import check_receipt as check_receipt

# The receipts in a file: one JSON object, a list of them, or one a line; each alone, or as `receipt` of a reply.
from .receipts import read_receipts as read_receipts
