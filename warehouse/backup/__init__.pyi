# Write a file for its owner alone: flushed, then named. What was written is deleted when `blocks` raises.
from .files import write_whole as write_whole

# What `backup.json` says.
from .manifest import BackupManifest as BackupManifest

# Raise StoreError, which names what differs, unless a backup is what its list says.
from .manifest import check_backup as check_backup

# What differs between a backup and its list, a sentence for each file: missing, changed, or not listed.
from .manifest import find_differences as find_differences

# Write `backup.json`, once all that it lists is on the disk with the names of it, and take the mark away.
from .manifest import finish_backup as finish_backup

# Whether a folder holds a backup that was finished.
from .manifest import is_finished as is_finished

# What the backup in a folder says that it holds; raises for one that was not finished, or that is of another form.
from .manifest import read_manifest as read_manifest

# Mark a new folder as a backup that is not finished; empty again where none comes of it.
from .manifest import writing_backup as writing_backup

# A folder into which everything is copied as it is; what is made there by others is listed at the end.
from .target import BackupTarget as BackupTarget
