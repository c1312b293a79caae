# Move the rows of a closed run into the lake, or what of them is left; returns how many left the ledger, by table.
from .archived import archive_run as archive_run

# Put the archived rows of a run into the ledger again, for work that changes or adds to them.
from .archived import bring_back as bring_back

# The units of rows that have left the ledger, and that the lake does not have as they left it.
from .archived import find_lost_archives as find_lost_archives

# The parts of a run of which the ledger still has rows.
from .archived import list_waiting as list_waiting

# The hash of the archived entry of the audit log before a number; null where none is archived.
from .archived import read_entry_before as read_entry_before

# A connection on which rows that have left the ledger are seen as if they had not.
from .archived import read_whole as read_whole

# Close the sessions of open runs whose deadline has passed.
from .closing import close_overdue as close_overdue

# Close a run whose sessions are all closed; false when it was closed before.
from .closing import close_run as close_run

# Close a session, or every session of a run, as it stands; what is closed already stays as it is.
from .closing import force_close as force_close

# Set the deadlines of those sessions of a run that have none yet; returns how many.
from .closing import set_deadlines as set_deadlines

# Sign the heads of both logs, write the public one, and land the entries that the lake lacks; returns rows newly landed.
from .landing import land_access_log as land_access_log

# Land what the ledger has closed and the lake lacks; returns rows newly landed by table.
from .landing import land_closed_sessions as land_closed_sessions

# `table/unit` of what the ledger now says differently than when it was landed; `step` is told the rows looked at.
from .verify import find_changed_sessions as find_changed_sessions

__all__ = [
    "archive_run",
    "bring_back",
    "close_overdue",
    "close_run",
    "find_changed_sessions",
    "find_lost_archives",
    "force_close",
    "land_access_log",
    "land_closed_sessions",
    "list_waiting",
    "read_entry_before",
    "read_whole",
    "set_deadlines",
]
