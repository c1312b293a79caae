# Stores that do not answer are waited for: one way of waiting for PostgreSQL, the object store and Prefect's server.
from . import away as away

# Blocks that hold something, which a Ctrl-C never leaves held.
from . import blocks as blocks

# A SQLite file that belongs to an installation: whether it is there, whole, its own, and holds all that was acknowledged.
from . import files as files

# This host and the processes on it: their names here, and whether they live.
from . import hosts as hosts

# The stores of a home as a whole: whether ledger, catalog and data files are there and its own, and the id that they share.
from . import homes as homes

# The installation that a home, its ledger and its lake belong to: one id in all three.
from . import installation as installation

# Files that take seconds to make, kept beside the installed packages for every home.
from . import kept_files as kept_files

# Write-ahead logs that were removed under a process: found while that process lives, kept, and put back.
from . import lost_logs as lost_logs

# An empty Prefect database, kept beside the installed packages: making one by Prefect's migrations costs 3 CPU seconds.
from . import prefect_database as prefect_database

# Keys of the installation: made on first use, readable by their owner alone, never replaced.
from . import secrets as secrets

# What the hosts of an installation must have alike: its keys, the registry, the archive; and whether this host has them so.
from . import shared_files as shared_files

# Vectors of texts already encoded, in one SQLite file, found again by a hash: no text is encoded twice.
from . import vectors as vectors

# Files that are there whole or not at all, their bytes on the disk, and their hash.
from . import whole_files as whole_files
