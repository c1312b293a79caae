# Raise UsageError unless PROCTOR_HOME is a home.
from .command import check_home as check_home

# A group of commands of which one is meant where none is named: `proctor bank` is `proctor bank stats`.
from .command import group_with_default as group_with_default

# One sentence on why a statement has no rows: empty tables with the commands that fill them, or the choice of rows.
from .empty_answers import explain_empty as explain_empty

# Run the shell until the person leaves it; returns its exit code.
from .lake_shell import run_shell as run_shell

# The commands of the table.
from .listed_commands import ListedGroup as ListedGroup

# The command (or group, with all that is below it) as its module has it; imports the module.
from .listed_commands import load_command as load_command

# The text in a style, where a person looks at it and NO_COLOR is not set.
from .output import paint as paint

# Print a frame as `table`, `csv`, `json` or `parquet` (bytes, for a pipe or a file).
from .output import print_frame as print_frame

# Tell the person something besides the result: on standard error, so that pipes stay clean.
from .output import print_note as print_note

# A command one of whose parameters is a dataclass, whose fields are options in that place.
from .option_groups import with_option_groups as with_option_groups

# Print records that a command made itself: a table, or JSON.
from .output import print_records as print_records

# Print a result: as JSON, or as the given lines (default: one line per entry) and the step that follows.
from .output import print_result as print_result

# Print rows that were read without Polars, as `table` or `json`; `shown` names the columns to show first.
from .output import print_rows as print_rows

# A duration as a person would say it: `40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
from .output import render_duration as render_duration

# One line per entry: names with spaces, counts as `3 sent, 2 replayed`, nothing as a dash.
from .output import render_entries as render_entries

# Write a frame as `csv`, `json`, `parquet` or `xlsx`.
from .table_files import write_frame as write_frame

# Write rows that were read without Polars as JSON.
from .table_files import write_rows as write_rows

# Name and version, and in a checkout the commit, with `+` where tracked files differ from it.
from .version import render_version as render_version

__all__ = [
    "ListedGroup",
    "check_home",
    "explain_empty",
    "group_with_default",
    "load_command",
    "paint",
    "print_frame",
    "print_note",
    "print_records",
    "print_result",
    "print_rows",
    "render_duration",
    "render_entries",
    "render_version",
    "run_shell",
    "with_option_groups",
    "write_frame",
    "write_rows",
]
