"""Runs of flows as the ledger has them: begun, ended, lost, missed."""

from typing import Final

# The pool of our workers; those of other kinds are named `proctor-KIND`.
WORK_POOL: Final = "proctor"
