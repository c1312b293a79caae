# What `backup.json` says.
from .manifest import BackupManifest as BackupManifest

# A file of a backup.
from .manifest import ListedFile as ListedFile

# The name of a backup's manifest.
from .manifest import NAME as NAME

# Mark a new folder as a backup that is not finished.
from .manifest import begin_backup as begin_backup

# Raise StoreError, which names what differs, unless a backup is what its list says.
from .manifest import check_backup as check_backup

# What differs between a backup and its list, a sentence for each file: missing, changed, or not listed.
from .manifest import find_differences as find_differences

# Write `backup.json`, once all that it lists is on the disk with the names of it, and take the mark away.
from .manifest import finish_backup as finish_backup

# SHA-256 of a file, in hex.
from .manifest import hash_file as hash_file

# What the backup in a folder says that it holds; null for one of a version that wrote no list.
from .manifest import read_manifest as read_manifest

# Where the parts of a backup go; `staging` is a folder for parts that are made rather than copied.
from .targets import BackupTarget as BackupTarget

# A finished backup whose files may serve another one.
from .targets import Earlier as Earlier

# A folder into which everything is copied as it is.
from .targets import PlainTarget as PlainTarget

# What a backup did not have to copy, since an earlier one has it.
from .targets import Shared as Shared

# The backup that unchanged files may come from. Raises UsageError for one that cannot serve, StoreError for an unfinished one.
from .targets import open_earlier as open_earlier

# Folders and files below a folder with their paths in it, each folder before what it holds; passing copies are left out.
from .targets import walk_tree as walk_tree

__all__ = [
    "NAME",
    "BackupManifest",
    "BackupTarget",
    "Earlier",
    "ListedFile",
    "PlainTarget",
    "Shared",
    "begin_backup",
    "check_backup",
    "find_differences",
    "finish_backup",
    "hash_file",
    "open_earlier",
    "read_manifest",
    "walk_tree",
]
