# Analyses that have no row after all of the demo; each states its reason.
from .everything import WITHOUT_ROWS as WITHOUT_ROWS

# The costs as lines of a table.
from .run import render_stages as render_stages

# Run the demo in PROCTOR_HOME; stops the server that it started, unless told to keep it.
from .run import run_demo as run_demo

__all__ = [
    "WITHOUT_ROWS",
    "render_stages",
    "run_demo",
]
