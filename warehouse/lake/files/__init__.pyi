# Files that the catalog names and that are not there, or not of its length; a lake on a server is not looked at.
from .data_files import find_file_faults as find_file_faults

# Files of these tables that cannot be read to their end, whatever their length; every byte of them is read.
from .data_files import find_garbled_files as find_garbled_files

# Whether there are Parquet files in the lake's folder, whatever the catalog says.
from .data_files import has_data_files as has_data_files

# The files that a transaction adds to a lake's folder.
from .data_files import NewFiles as NewFiles

# Give DuckDB the object store's credentials for this connection only.
from .object_store import create_s3_secret as create_s3_secret

# The statement that gives DuckDB the credentials; it holds them.
from .object_store import render_s3_secret as render_s3_secret

# A file that a catalog named is not there any more: a maintenance removed it meanwhile.
from .remote_files import FileGone as FileGone

# The folder, or the prefix of an object store, of a lake's files.
from .remote_files import FileStore as FileStore

# Call `take` with each file, and with the function that writes it to a path.
from .remote_files import give_files as give_files

# A file of a lake: its path below the lake's folder or prefix, and its length in bytes.
from .remote_files import LakeFile as LakeFile

# Every file that a SQLite catalog names, also for its earlier snapshots.
from .remote_files import list_lake_files as list_lake_files
