# Analyses that have no row after all of the demo; each states its reason.
from .everything import WITHOUT_ROWS as WITHOUT_ROWS

# Run every analysis of ours and count its rows.
from .everything import count_rows as count_rows

# Rows of every analysis after `proctor demo` and after `proctor demo --everything`, as counted once.
from .run import read_row_counts as read_row_counts

# Where they are kept.
from .run import ROW_COUNTS as ROW_COUNTS

# The costs as lines of a table.
from .run import render_stages as render_stages

# Run the demo in PROCTOR_HOME; stops the server that it started, unless told to keep it.
from .run import run_demo as run_demo
