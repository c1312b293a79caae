# On a PostgreSQL server: the role of the exam API, which may use the exam's side of the ledger and nothing else.
from . import exam_role as exam_role

# Inserts that say what happens where a row is there already, in the words of the engine at hand.
from . import inserting as inserting

# The installation that a ledger belongs to, and how many transactions it has acknowledged.
from . import installation as installation

# What the ledger's two sides say of each other: no foreign key leads from one file to the other.
from . import integrity as integrity

# The ledger as a process has it: reads of one state, transactions, and the writer of the hot path.
from . import ledger as ledger

# Rows and values by the ten thousand: one statement for all of them, sent past SQLAlchemy's own handling of each.
from . import many as many

# Moments as the ledger keeps them.
from . import moments as moments

# Open the ledger, for its owner, or the exam's side of it alone; both only where they are those of their home.
from . import opening as opening

# Rows of the ledger as the typed values that `schemas/ledger/` declares: read by a query over their table, and written.
from . import rows as rows

# What the hosts of an installation share, as the ledger knows it: a fingerprint of each file, never its content.
from . import shared_files as shared_files

# The two sides of the ledger: what the exam API's process may open, and what it must never reach.
from . import sides as sides

# Statements of the hot path: built with SQLAlchemy, compiled once per dialect, sent as driver SQL.
from . import statements as statements

# The ledger's tables: what must be durable the moment it is acknowledged.
from . import tables as tables

# Up to when something was landed, so that the next flow looks only at what came later.
from . import watermarks as watermarks

# Group commit: many small operations, one fsync.
from . import writer as writer
