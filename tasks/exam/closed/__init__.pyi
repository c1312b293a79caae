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

# Of closed sessions those that are, in ledger, logs and lake, as they were when they landed, by the entry that their landing wrote.
from .sources import list_unchanged_sessions as list_unchanged_sessions

# `table/unit` of what the ledger now says differently than when it was landed; `step` is told the rows looked at.
from .verify import find_changed_sessions as find_changed_sessions
