# Copy ledger, lake, archive, secrets and what is public to a new folder; consistent although flows may write.
from .copies import backup_home as backup_home

# Put a backup into an empty home; it is read and checked whole before anything of it is put in place.
from .copies import restore_home as restore_home

# Compare a backup with its list, file by file. Nothing is written; raises as `warehouse.backup.read_manifest` does.
from .copies import verify_backup as verify_backup

# Restore the newest whole backup into an empty place, look at all of it, and remove the place; returns what was found.
from .drill import check_restore as check_restore

# Land a try of a restore as a row of `restore_checks`.
from .drill import land_check as land_check

# Make a backup among those that are kept, then delete those that need not be kept; returns what was done.
from .kept import make_kept_backup as make_kept_backup

# The backups that are kept, and when one was last restored for a try.
from .kept import read_kept as read_kept

# Make the night's backup and rotate; nothing where no folder is set.
from .task import keep_backups as keep_backups

# Try the newest backup, and land what came of it; raises ContractError where it is not whole.
from .task import try_newest_backup as try_newest_backup
