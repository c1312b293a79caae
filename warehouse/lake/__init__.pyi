# The name under which the lake is attached.
from .attach import ALIAS as ALIAS

# Write the installation into a SQLite catalog, in the place of one that it names. Raises StoreError.
from .attach import give_catalog_id as give_catalog_id

# Whether there is a catalog; PostgreSQL is left to create its own under its own locks.
from .attach import is_initialised as is_initialised

# Whether the catalog lives in PostgreSQL, which needs no lock round its writers.
from .attach import is_postgres as is_postgres

# Whether the files live in an object store rather than in a folder.
from .attach import is_remote as is_remote

# The installation that the catalog of an attached lake belongs to; null for one that was given none yet.
from .attach import read_server_id as read_server_id

# The statements of `list_attach_statements` as a script for DuckDB's own shell.
from .attach import render_attach_script as render_attach_script

# The first value of each query on a catalog that is there; None without a row, or without such a table yet.
from .catalog_door import ask_catalog as ask_catalog

# `hash_rows_of` one frame.
from .frames import hash_rows as hash_rows

# SHA-256 of each frame over its rows in any order, and of nothing else.
from .frames import hash_rows_of as hash_rows_of

# The named queries of a block, of one state of the lake: what many of them read is read once.
from .held import hold_rows as hold_rows

# The frame without a zero below zero, which files do not keep.
from .frames import unsign_zeros as unsign_zeros

# Rows of a unit that memory need not hold at once: hashed and landed from parts on the disk.
from .row_parts import RowParts as RowParts

# Seconds that a writer waits for the lake's lock.
from .locks import LOCK_TIMEOUT_S as LOCK_TIMEOUT_S

# What is seen of each table by name, by the members of a team; of one that is not there no row is.
from .narrowed import read_sight as read_sight

# The lake for reading, of which only rows of these models are there: as the members of a team see it.
from .narrowed import open_narrow_lake as open_narrow_lake

# What lands within the block, coroutines included, is landed by this flow run; None means by none.
from .provenance import landing_provenance as landing_provenance

# Version of Proctor as installed; `unknown` when it runs from files that were never installed.
from .provenance import read_code_version as read_code_version

# Within the block this process attaches each lake once; may be nested, and used by several threads.
from .sharing import share_lake as share_lake

# Units that are landed together.
from .store import Batch as Batch

# One process's door to the lake; may be shared by threads. Close it, or use it as a context manager.
from .store import Lake as Lake

# What a landing came to: rows taken, rows refused.
from .store import Landing as Landing

# Open the lake; for writing, create it or bring its tables and views up to date first.
from .store import open_lake as open_lake
