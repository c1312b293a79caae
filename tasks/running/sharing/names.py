"""What the worker and the runs on it call each other by."""

from __future__ import annotations

from typing import Final

# Where `proctor worker` says to the runs that it starts which worker they are on.
WORKER_VARIABLE: Final = "PROCTOR_WORKER"

# The pool of our workers; those of other kinds are named `proctor-KIND`.
WORK_POOL: Final = "proctor"
