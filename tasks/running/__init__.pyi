# Two pairs of eyes: what the settings name is done only once somebody else has agreed to exactly that.
from . import approvals as approvals

# Pieces of work of one kind that several processes share, as SharedWork does, for code that does not wait in a loop of events.
from .claims import HeldPieces as HeldPieces

# Seconds that a claim holds without renewal.
from .claims import LEASE_S as LEASE_S

# How often who waits for a piece of work asks again.
from .claims import POLL_S as POLL_S

# Pieces of work of one kind that several processes share: each piece is one process's at a time.
from .claims import SharedWork as SharedWork

# Hold the work `name` of a kind while the block runs, after waiting for another holder up to `wait_s`.
from .claims import claim_work as claim_work

# Whether a process was on this host and is there no more.
from .claims import is_dead as is_dead

# The name of this host; in a container, with the number of its processes' own name space.
from .claims import name_host as name_host

# No search for cycles within the block: for work that makes objects by the ten thousand, of which it takes a tenth.
from .collecting import without_collecting as without_collecting

# Let our own errors pass; replace any other by an InternalFault that names only where it happened.
from .faults import hide_content as hide_content

# Prefect forwards this logger to the flow run (deployments/flow_runs/local_server.py); our own file has every line. It never prints: errors stand in the sentence of the command.
from .faults import log as log

# Hold the work `name` of a kind (`league`, `cgeval` …) while the block runs; that of the dead is let go of.
from .holds import hold_work as hold_work

# Writes every record to a server's own output, as text or as JSON.
from .log_lines import ServerLines as ServerLines

# The lines of a run, oldest first; `since` (ISO text) is when it began, and files of months before are not opened.
from .log_lines import iter_run_lines as iter_run_lines

# A line as a person reads it.
from .log_lines import render_text as render_text

# Seconds between lines of progress where there is no terminal.
from .progress import HEARTBEAT_S as HEARTBEAT_S

# Counts finished units of one piece of work.
from .progress import Progress as Progress

# A line between the lines of progress: what the work waits for.
from .progress import say_line as say_line

# A connection to a Dask cluster; made by `open_cluster`.
from .spreading import Cluster as Cluster

# A client of the scheduler at that address; with `tls://`, certificates are those of Dask's own settings.
from .spreading import connect as connect

# What tells two checkouts of Proctor apart: the beginning of a hash over the modules that pieces can be of.
from .spreading import describe_code as describe_code

# The cluster of the block that this is called in; null where pieces are computed here.
from .spreading import find_cluster as find_cluster

# Within the block, pieces are computed on the cluster that the settings name; by this process where they name none.
from .spreading import open_cluster as open_cluster

# What `function` comes to for each piece (its arguments), in their order; on the cluster where one is open.
from .spreading import spread as spread

__all__ = [
    "HEARTBEAT_S",
    "LEASE_S",
    "POLL_S",
    "Cluster",
    "HeldPieces",
    "Progress",
    "ServerLines",
    "SharedWork",
    "approvals",
    "claim_work",
    "connect",
    "describe_code",
    "find_cluster",
    "hide_content",
    "hold_work",
    "is_dead",
    "iter_run_lines",
    "log",
    "name_host",
    "open_cluster",
    "render_text",
    "say_line",
    "spread",
    "without_collecting",
]
