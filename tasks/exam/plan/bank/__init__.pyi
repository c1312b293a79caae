# A bank version as the draw sees it. A lineage is known by its position: disciplines follow each other.
from .bank_index import BankIndex as BankIndex

# Index the rows of one bank version (columns of `warehouse/sql/reads/bank_index.sql`).
from .bank_index import index_bank as index_bank

# How many lineages of a discipline a set has, and how many of them are to be anchors.
from .drawing import DisciplineShare as DisciplineShare

# The lineages of a set (lineage → its public name) in the secret order of one session.
from .drawing import draw_order as draw_order

# Draw one set without replacement, in the order of disciplines.
from .drawing import draw_set as draw_set

# One question of a set, as drawn.
from .drawing import DrawnQuestion as DrawnQuestion

# The seed of a run: the operator's share, those of candidates in the order of the log, and the beacon's value.
from .drawing import make_seed as make_seed

# What the lineages of a set follow from.
from .drawing import make_set_key as make_set_key

# Masks over the lineages of a bank version, bool each.
from .drawing import Masks as Masks

# The anchors of each discipline.
from .drawing import split_anchors as split_anchors

# Hashes of 32 bytes.
from .packed import Hashes as Hashes

# UUIDs as 16 bytes each, in the order of their texts; raises ContractError for what is none as the contract writes it.
from .packed import pack_uuids as pack_uuids

# UUID → its place among UUIDs that are all different.
from .packed import UuidPlaces as UuidPlaces
