# Copy a ledger while others write to it, as the two files of an embedded one.
from . import backup as backup

# The backups that were begun, also those that were not finished: what is erased later is still in them.
from . import backups as backups

# One hash chain over every entry of the audit log, whatever session it is of.
from . import chain as chain

# Claims on paid work: whoever holds one works, for all processes and hosts of an installation.
from . import claims as claims

# The time that deadlines are decided by: the database's clock, as far as something besides it shows that it is right.
from . import clock as clock

# What entries of the audit log fix besides themselves: a SHA-256 of the state that was written with them.
from . import digests as digests

# On a PostgreSQL server: the role of the exam API, which may use the exam's side of the ledger and nothing else.
from . import exam_role as exam_role

# The two files of an embedded ledger: made together, put in place together, kept together.
from . import files as files

# Runs of flows: what started each, how it ended, and what it came to in ids and counts; and the times that schedules have.
from . import flow_runs as flow_runs

# The installation that a ledger belongs to, and how many transactions it has acknowledged.
from . import installation as installation

# Inserts that say what happens where a row is there already, in the words of the engine at hand.
from . import inserting as inserting

# What the ledger's two sides say of each other: no foreign key leads from one file to the other.
from . import integrity as integrity

# The ledger as a process has it: reads of one state, transactions, and the writer of the hot path.
from . import ledger as ledger

# Rows and values by the ten thousand: one statement for all of them, sent past SQLAlchemy's own handling of each.
from . import many as many

# Up to when something was landed, so that the next flow looks only at what came later.
from . import watermarks as watermarks

# Moments as the ledger keeps them.
from . import moments as moments

# Runs that ended badly and whom that was told: each is told once, whoever found it and however often it was found.
from . import notices as notices

# Open the ledger, for its owner, or the exam's side of it alone; both only where they are those of their home.
from . import opening as opening

# Processes that make calls: each has a lease that it renews, so that others know whose work is still under way.
from . import processes as processes

# The public log: what an installation lets everybody see of what it does, one chain of lines, to the byte (docs/verify.md).
from . import public_log as public_log

# Write the ledger's files anew, so that what was erased lies in no page, log or free space of them.
from . import purging as purging

# A thread that renews a lease in the ledger as long as the work goes on.
from . import renewal as renewal

# A ledger on a PostgreSQL server as the two files of an embedded one, and back.
from . import server_backup as server_backup

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

# Group commit: many small operations, one fsync.
from . import writer as writer

__all__ = [
    "backup",
    "backups",
    "chain",
    "claims",
    "clock",
    "digests",
    "exam_role",
    "files",
    "flow_runs",
    "inserting",
    "installation",
    "integrity",
    "ledger",
    "many",
    "moments",
    "notices",
    "opening",
    "processes",
    "public_log",
    "purging",
    "renewal",
    "rows",
    "server_backup",
    "shared_files",
    "sides",
    "statements",
    "tables",
    "watermarks",
    "writer",
]
