# The answer that is typed at the terminal; Ctrl-C ends the question at once.
from .output import ask as ask

# Yes or no, asked at the terminal.
from .output import ask_whether as ask_whether

# JSON documents that this process has printed: a command prints one, also where it then fails.
from .output import count_documents as count_documents

# The lines of a table; with a width, of the columns that fit into it.
from .output import draw_table as draw_table

# Why a statement has no rows: what an analysis states, empty tables with the commands that fill them, or the choice of rows.
from .empty_answers import explain_empty as explain_empty

# The text broken between words where a terminal is narrower.
from .output import fold_line as fold_line

# The text in a style, where a person looks at it and NO_COLOR is not set.
from .output import paint as paint

# Whether the command that runs was asked for JSON.
from .output import is_json as is_json

# Print one JSON document, whatever was asked for.
from .output import print_document as print_document

# Print why a command ends: one sentence on standard error, or one JSON document.
from .output import print_error as print_error

# Print a frame as `table`, `csv`, `json` or `parquet` (bytes, for a pipe or a file).
from .output import print_frame as print_frame

# Tell the person something besides the result: on standard error, so that pipes stay clean.
from .output import print_note as print_note

# Print records that a command made itself: a table, or JSON.
from .output import print_records as print_records

# Print a result: as JSON, or as the given lines (default: one line per entry) and the step that follows.
from .output import print_result as print_result

# Print rows that were read without Polars, as `table` or `json`; `shown` names the columns to show first.
from .output import print_rows as print_rows

# Within the block a result is one JSON document, or lines for people.
from .output import printing_json as printing_json

# A duration as a person would say it: `40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
from .output import render_duration as render_duration

# One line per entry: names with spaces, counts as `3 sent, 2 replayed`, nothing as a dash.
from .output import render_entries as render_entries

# Write a frame as `csv`, `json`, `parquet` or `xlsx`.
from .table_files import write_frame as write_frame

# Write rows that were read without Polars as JSON.
from .table_files import write_rows as write_rows
