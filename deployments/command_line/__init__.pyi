# Raise UsageError unless PROCTOR_HOME is a home.
from .command import check_home as check_home

# A group of commands of which one is meant where none is named: `proctor bank` is `proctor bank stats`.
from .command import group_with_default as group_with_default

# Run the shell until the person leaves it; returns its exit code.
from .lake_shell import run_shell as run_shell

# The commands of the table.
from .listed_commands import ListedGroup as ListedGroup

# The command (or group, with all that is below it) as its module has it; imports the module.
from .listed_commands import load_command as load_command

# Name and version, and in a checkout the commit, with `+` where tracked files differ from it.
from .version import render_version as render_version
