# The named queries under `warehouse/sql`: find them, read their headers, bind their parameters.
from . import queries as queries

# What a lake finds before it runs a query: the month judged last, and the months that are not closed.
from . import months as months

# The parts of tables, and the files that hold them, as the catalog names them.
from . import parts as parts

# The mart, analysis or check of that name, else another package's analysis; raises UsageError that lists what there is.
from .analyses import find_query as find_query

# All queries that can be run by name, ours and those of other packages, in order of name.
from .analyses import list_runnable_queries as list_runnable_queries

# The analyses of a folder, in order of name.
from .analyses import read_folder as read_folder

# The names of all checks.
from .checks import list_checks as list_checks

# The values of a check's parameters: settings have the setting's value, `$month` is the month that is asked for.
from .checks import bind_check as bind_check

# One check, of one month if it has a month. Raises StoreError where rows that it reads cannot be read.
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

# The page of all analyses, views and checks with question, grain, parameters and the columns of views.
from .query_pages import render_query_list as render_query_list

# A door to the lake that only reads. Close it, or use it as a context manager.
from .reader import LakeReader as LakeReader

# Columns and rows as plain Python values.
from .reader import Rows as Rows

# The rows of one statement that only reads; raises UsageError for anything else.
from .reader import run_statement as run_statement

# DuckDB in memory with every table empty, every staging query and mart a view.
from .trial import connect_trial as connect_trial
