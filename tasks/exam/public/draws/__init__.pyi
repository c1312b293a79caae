# Add what a candidate gives to the seed of a run that is committed to and not drawn; the number of the entry.
from .committing import add_share as add_share

# When the value of a named beacon is there; an empty text for one that is typed.
from .beacons import describe_due as describe_due

# Commit to a run that is drawn once the value of `source` is known, and tell the witnesses.
from .committing import commit_run as commit_run

# When the value of a named beacon is given out; null for one that is typed.
from .beacons import find_moment as find_moment

# Draw a run that is committed to with the value of its beacon, and publish it; its plan.
from .committing import draw_run as draw_run

# Disclose every closed run that is not yet, and bring the public log's file up to the ledger; returns the runs.
from .disclosing import disclose_closed_runs as disclose_closed_runs

# Why closed runs cannot be disclosed: a sentence for each, with its name and the way out; nothing is written.
from .disclosing import find_refused_runs as find_refused_runs

# The root of a set from its items as they are published.
from .sealing import compute_set_root as compute_set_root

# Add the entries of a run that is planned now: its commitment, unless it is public already, and its draw.
from .sealing import write_draw as write_draw
