# Where an ingest keeps copies of papers while it reads them, in a folder of its process; deleted when it ends.
from .archive import SPOOL as SPOOL

# The key with which to keep an original now; null for an archive that is not encrypted.
from .archive import find_archive_key as find_archive_key

# Where a file lies that is kept at `target`, plain or encrypted; null where there is none.
from .archive import find_kept as find_kept

# Write a file to its place at once, encrypted where a key is given; answers with the place.
from .archive import keep_bytes as keep_bytes

# Move a finished file to its place, encrypted where a key is given; answers with the place.
from .archive import keep_file as keep_file

# Let everything that is kept from now on be encrypted.
from .archive import mark_encrypted as mark_encrypted

# A file of archive or pages for a program that needs a path: itself, or for the block a private copy of its content.
from .archive import open_kept as open_kept

# The content of a file of archive or pages. Raises StoreError where it is encrypted and cannot be read.
from .archive import read_kept as read_kept

# A finished encrypted backup whose files may serve another one.
from .backup import EarlierEncrypted as EarlierEncrypted

# A folder into which nothing is written but encrypted files.
from .backup import EncryptedTarget as EncryptedTarget

# A target for a backup in `folder`, to be finished before the block ends.
from .backup import encrypting_backup as encrypting_backup

# Write the files of an encrypted backup to the new folder `target`.
from .backup import extract_backup as extract_backup

# What cannot be read of an encrypted backup with its key, a sentence for each file; nothing is written.
from .backup import find_damage as find_damage

# Whether `folder` holds an encrypted backup, a finished one or not.
from .backup import is_encrypted_backup as is_encrypted_backup

# An earlier encrypted backup, read with its key. Raises StoreError.
from .backup import open_encrypted as open_encrypted

# The manifest of an encrypted backup. Raises StoreError for one that was not finished, damaged, or of another key.
from .backup import read_manifest as read_manifest

# Whether every device that a folder lies on is one of dm-crypt (LUKS, plain), itself or below its volumes.
from .disk import is_disk_encrypted as is_disk_encrypted

# The ending of an encrypted file.
from .files import SUFFIX as SUFFIX

# Whether a process of that number lives, whoever's it is.
from .files import is_running as is_running

# A folder of its owner's alone for plain files of `size` bytes in all, deleted after the block.
from .files import open_private_folder as open_private_folder

# Write a file for its owner alone: flushed, then named; what was written is deleted when `blocks` raises.
from .files import write_whole as write_whole

# Keep archive and pages plain from now on, and decrypt what lies there; answers with the files that were encrypted.
from .home import decrypt_home as decrypt_home

# Encrypt archive and pages from now on, and what lies there already; answers with the files that were plain.
from .home import encrypt_home as encrypt_home

# Look at the beginning of every file of archive and pages.
from .home import read_state as read_state

# Encrypt with the newest key what has an older one; answers with the files that had. Raises StoreError for a key not given.
from .home import renew_home as renew_home

# One key (AES-256).
from .keys import EncryptionKey as EncryptionKey

# Make a key and add it to the key file, which is made when there is none; from then on the new key encrypts.
from .keys import add_key as add_key

# The keys that settings name; null where none are set.
from .keys import read_key_ring as read_key_ring

# The keys that settings name; raises StoreError, which begins with `why`, where none are set.
from .keys import require_key_ring as require_key_ring

# Counts and hashes bytes that pass.
from .stream import Measure as Measure

# What is left of a file, in blocks.
from .stream import read_blocks as read_blocks

__all__ = [
    "SPOOL",
    "SUFFIX",
    "EarlierEncrypted",
    "EncryptedTarget",
    "EncryptionKey",
    "Measure",
    "add_key",
    "decrypt_home",
    "encrypt_home",
    "encrypting_backup",
    "extract_backup",
    "find_archive_key",
    "find_damage",
    "find_kept",
    "is_disk_encrypted",
    "is_encrypted_backup",
    "is_running",
    "keep_bytes",
    "keep_file",
    "mark_encrypted",
    "open_encrypted",
    "open_kept",
    "open_private_folder",
    "read_blocks",
    "read_kept",
    "read_key_ring",
    "read_manifest",
    "read_state",
    "renew_home",
    "require_key_ring",
    "write_whole",
]
