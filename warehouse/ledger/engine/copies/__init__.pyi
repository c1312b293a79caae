# Copy a ledger while others write to it, as the two files of an embedded one.
from . import backup as backup

# The backups that were begun, also those that were not finished: what is erased later is still in them.
from . import backups as backups

# The two files of an embedded ledger: made together, put in place together, kept together.
from . import files as files

# Write the ledger's files anew, so that what was erased lies in no page, log or free space of them.
from . import purging as purging

# A ledger on a PostgreSQL server as the two files of an embedded one, and back.
from . import server_backup as server_backup
