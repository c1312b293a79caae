# (lineage, question) → the question's commitment, from rows of the bank.
from .bank_file import commit_rows as commit_rows

# The leaves of a lineage's slots, from (lineage, question) → the question's commitment.
from .bank_file import make_slot_leaves as make_slot_leaves

# The file `banks/<root>.jsonl` of the bank version, written unless it is there.
from .bank_file import seal_bank as seal_bank

# The questions of lineages of an index, all of its version; ContractError where the bank has another by now.
from .bank_file import read_unchanged as read_unchanged

# A bank version as it is published.
from .bank_file import SealedBank as SealedBank

# Where a bank version is read.
from .bank_rows import BankRows as BankRows

# A bank version that is in memory.
from .bank_rows import FrameRows as FrameRows

# The latest bank version in the lake.
from .bank_rows import LakeRows as LakeRows

# The version that stands where a run has no bank.
from .bank_rows import NO_BANK as NO_BANK

# The file of the blinding key.
from .blinding import FILE as FILE

# Why the secret is not the one that the ledger's sets were sealed with; null where it is, or nothing was sealed.
from .blinding import find_blinding_fault as find_blinding_fault

# What stands for a lineage in everything that is published: 32 bytes, the same in every bank version.
from .blinding import lineage_name as lineage_name

# The name that stands for a passage in everything that is published: 32 bytes, the same in every bank version.
from .blinding import passage_name as passage_name

# The secret that names and salts are made with; made on first use, for its owner alone. Raises StoreError.
from .blinding import read_blinding_secret as read_blinding_secret

# The salt of a slot of a lineage in a bank version: 32 bytes.
from .blinding import slot_salt as slot_salt

# Pass when no question of a lineage, or of a copy's, was disclosed, so that it may come back; GateError names one.
from .questions import check_undisclosed as check_undisclosed

# Publish a question (its row of `bank_entries`) with its proofs; doing it twice changes nothing.
from .questions import disclose_question as disclose_question

# The questions of these types that were disclosed, or are retired and can be put to nobody, and how many others there are.
from .showable import read_showable as read_showable
