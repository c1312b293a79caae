# Two pairs of eyes: what the settings name is done only once somebody else has agreed to exactly that.
from . import approvals as approvals

# No search for cycles within the block: for work that makes objects by the ten thousand, of which it takes a tenth.
from .collecting import without_collecting as without_collecting

# Let our own errors pass; replace any other by an InternalFault that names only where it happened.
from .faults import hide_content as hide_content

# Prefect forwards this logger to the flow run (deployments/flow_runs/local_server.py); our own file has every line. It never prints: errors stand in the sentence of the command.
from .faults import log as log

# The lines of a run, oldest first; `since` (ISO text) is when it began, and files of months before are not opened.
from .log_lines import iter_run_lines as iter_run_lines

# A line as a person reads it.
from .log_lines import render_text as render_text

# Writes every record to a server's own output, as text or as JSON.
from .log_lines import ServerLines as ServerLines

# A month as it was written, or the present one; UsageError for what is none.
from .months import choose_month as choose_month

# Seconds between lines of progress where there is no terminal.
from .progress import HEARTBEAT_S as HEARTBEAT_S

# Counts finished units of one piece of work.
from .progress import Progress as Progress

# A line between the lines of progress: what the work waits for.
from .progress import say_line as say_line

# Programs that are told something on their standard input, and how whoever is told is named.
from . import programs as programs
