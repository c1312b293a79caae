# The named queries under `warehouse/sql`: find them, read their headers, bind their parameters.
from . import queries as queries

# All queries that can be run by name, ours and those of other packages, in order of name.
from .analyses import list_runnable_queries as list_runnable_queries

# The mart, analysis or check of that name, else another package's analysis; raises UsageError that lists what there is.
from .analyses import find_query as find_query

# The name under which the lake is attached.
from .attach import ALIAS as ALIAS

# Write the installation into a SQLite catalog, in the place of one that it names. Raises StoreError.
from .attach import give_catalog_id as give_catalog_id

# Whether the catalog lives in PostgreSQL, which needs no lock round its writers.
from .attach import is_postgres as is_postgres

# Whether the files live in an object store rather than in a folder.
from .attach import is_remote as is_remote

# The installation that the catalog of an attached lake belongs to; null for one that was given none yet.
from .attach import read_server_id as read_server_id

# The statements of `list_attach_statements` as a script for DuckDB's own shell.
from .attach import render_attach_script as render_attach_script

# Copy the lake as of one moment into the new folder `dest` (`catalog.sqlite` and `data/`), with its snapshots.
from .backup import backup_lake as backup_lake

# Raise UsageError where settings name a lake that has rows, or a place with files of one.
from .backup import check_empty_lake as check_empty_lake

# Put the backup in `src` where settings say the lake lies; raises UsageError where one already has rows.
from .backup import restore_lake as restore_lake

# The first value of each query on a catalog that is there; None without a row, or without such a table yet.
from .catalog_door import ask_catalog as ask_catalog

# The names of all checks.
from .checks import list_checks as list_checks

# One check. Raises StoreError where rows that it reads cannot be read.
from .checks import run_check as run_check

# Every check of `warehouse/sql/checks`; parameters that are settings (`$rest_months`) take the setting's value.
from .checks import run_checks as run_checks

# The programs that can attach the lake, with how.
from .clients import CLIENTS as CLIENTS

# Client → its lines; `duckdb` is the version of DuckDB that they are for.
from .clients import render_lines as render_lines

# The lines of a client beside those of Python: what they have in common is said once.
from .clients import shorten as shorten

# The columns of a table, view or analysis of this version, in order; raises UsageError for any other name.
from .columns import describe_relation as describe_relation

# How a table stands to its rules.
from .data_docs import TableCounts as TableCounts

# Write the pages into `folder`, in place of those of an earlier time; returns the path of its `index.html`.
from .data_docs import write_data_docs as write_data_docs

# Files that the catalog names and that are not there, or not of its length; a lake on a server is not looked at.
from .data_files import find_file_faults as find_file_faults

# Files of these tables that cannot be read to their end, whatever their length; every byte of them is read.
from .data_files import find_garbled_files as find_garbled_files

# Whether there are Parquet files in the lake's folder, whatever the catalog says.
from .data_files import has_data_files as has_data_files

# The frame with the table's own columns in order and in its types.
from .frames import conform_frame as conform_frame

# `hash_rows_of` one frame.
from .frames import hash_rows as hash_rows

# Hash every landed row again, a month at a time, and compare with what `landings` keeps; `step` is told the rows.
from .integrity import check_landings as check_landings

# The rows of one landed unit in the contract's own columns; `part` is the value that its file is split by.
from .integrity import read_unit as read_unit

# Seconds that a writer waits for the lake's lock.
from .locks import LOCK_TIMEOUT_S as LOCK_TIMEOUT_S

# A landing that the catalog does not know.
from .lost_landings import LostLanding as LostLanding

# What lost snapshots landed, in order, as far as files say.
from .lost_landings import find_lost_landings as find_lost_landings

# Land what was lost, moment by moment; returns how many landings. Those whose rows are gone are passed over.
from .lost_landings import land_again as land_again

# Merge small files, and remove what nothing has needed for `keep_days`: snapshots, files, orphans of killed writers.
from .maintenance import compact_lake as compact_lake

# Whether the rows of a table name their month.
from .stretches import has_months as has_months

# Stretches that cover the table (or one month of it) once, of about `rows` rows; a larger unit is one by itself.
from .stretches import list_stretches as list_stretches

# The rows of one stretch after the other, with the columns that rules name.
from .stretches import read_stretches as read_stretches

# What lands within the block, coroutines included, is landed by this flow run; None means by none.
from .provenance import landing_provenance as landing_provenance

# Version of Proctor as installed; `unknown` when it runs from files that were never installed.
from .provenance import read_code_version as read_code_version

# The page of all analyses, views and checks with question, grain, parameters and the columns of views.
from .query_pages import render_query_list as render_query_list

# A door to the lake that only reads. Close it, or use it as a context manager.
from .reading import LakeReader as LakeReader

# Columns and rows as plain Python values.
from .reading import Rows as Rows

# The rows of one statement that only reads; raises UsageError for anything else.
from .reading import run_statement as run_statement

# Write the catalog anew: it keeps the smallest and largest text of these tables, and pages with those of files of before.
from .rewriting import purge_catalog as purge_catalog

# Write the files of these tables anew without the rows that are no more, and delete every file and snapshot of before.
from .rewriting import purge_files as purge_files

# The units as they are to be landed when the texts of these sessions are gone: null in `columns`, all else as it is.
from .rewriting import without_texts as without_texts

# Within the block this process attaches each lake once; may be nested, and used by several threads.
from .sharing import share_lake as share_lake

# Units that are landed together.
from .store import Batch as Batch

# One process's door to the lake; may be shared by threads. Close it, or use it as a context manager.
from .store import Lake as Lake

# What a landing came to: rows taken, rows refused.
from .store import Landing as Landing

# Open the lake; for writing, create it or bring its tables and views up to date first.
from .store import open_lake as open_lake

# What `find_refusals` finds, found by Great Expectations. `frame` needs only the columns that rules name.
from .suite import find_suite_refusals as find_suite_refusals

__all__ = [
    "ALIAS",
    "CLIENTS",
    "LOCK_TIMEOUT_S",
    "Batch",
    "Lake",
    "LakeReader",
    "Landing",
    "LostLanding",
    "Rows",
    "TableCounts",
    "ask_catalog",
    "backup_lake",
    "check_empty_lake",
    "check_landings",
    "compact_lake",
    "conform_frame",
    "describe_relation",
    "find_file_faults",
    "find_garbled_files",
    "find_lost_landings",
    "find_query",
    "find_suite_refusals",
    "give_catalog_id",
    "has_data_files",
    "has_months",
    "hash_rows",
    "is_postgres",
    "is_remote",
    "land_again",
    "landing_provenance",
    "list_checks",
    "list_runnable_queries",
    "list_stretches",
    "open_lake",
    "purge_catalog",
    "purge_files",
    "queries",
    "read_code_version",
    "read_server_id",
    "read_stretches",
    "read_unit",
    "render_attach_script",
    "render_lines",
    "render_query_list",
    "restore_lake",
    "run_check",
    "run_checks",
    "run_statement",
    "share_lake",
    "shorten",
    "without_texts",
    "write_data_docs",
]
