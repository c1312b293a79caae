# Raise UsageError unless this is an admin who is not shut out.
from .erase import check_may_erase as check_may_erase

# Erase what a scope names, run by run, and finish what a killed command had begun.
from .erase import erase_texts as erase_texts

# Carry erasures into the lake and out of every file: those that are not finished, or with `every` all that ever were.
from .erase import finish_erasures as finish_erasures

# Land what the ledger knows of erasures and the lake lacks, such as one that was restored; returns rows newly landed.
from .erase import land_erasures as land_erasures

# What would be erased of a run.
from .scope import RunErasure as RunErasure

# What is asked to be erased; at least one is given.
from .scope import Scope as Scope

# The runs whose last edition is older than the policy keeps texts; none without a policy. Erased ones are among them.
from .scope import find_due_runs as find_due_runs

# Why texts of a run must stay for now, in a sentence; null where nothing forbids that they go.
from .scope import find_refusal as find_refusal

# Of the runs that the policy no longer keeps those that still hold texts.
from .scope import list_due as list_due

# What would be erased of each run, in the order of months; nothing is changed.
from .scope import plan_erasure as plan_erasure

# Run to its editions, the last one last.
from .scope import read_last_editions as read_last_editions

# The moment by which the policy no longer keeps runs; raises ClockError where a leap of the clock alone would name one.
from .scope import read_policy_time as read_policy_time

# Finish erasures that were begun, then erase what PROCTOR_KEEP_RAW_MONTHS no longer keeps; without it nothing is due.
from .task import erase_what_is_due as erase_what_is_due
