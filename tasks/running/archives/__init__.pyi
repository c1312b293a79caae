# Move the rows of a closed run into the lake, or what of them is left; returns how many left the ledger, by table.
from .archives import archive_run as archive_run

# Put the archived rows of a run into the ledger again, for work that changes or adds to them.
from .archives import bring_back as bring_back

# The same for who holds the archives.
from .archives import bring_back_held as bring_back_held

# Entries of the audit log and answers from before a moment, wherever they are.
from .archives import count_dated_before as count_dated_before

# The units of rows that have left the ledger, and that the lake does not have as they left it.
from .archives import find_lost_archives as find_lost_archives

# While the block runs, nothing leaves the ledger or comes back but by it.
from .archives import hold_archives as hold_archives

# The parts of a run of which the ledger still has rows.
from .archives import list_waiting as list_waiting

# The hash of the archived entry of the audit log before a number; null where none is archived.
from .archives import read_entry_before as read_entry_before

# A connection on which rows that have left the ledger are seen as if they had not.
from .archives import read_whole as read_whole
