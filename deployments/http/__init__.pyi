# Start this process again without the variables that hold secrets of others, unless there are none.
from .exam_server import leave_secrets_behind as leave_secrets_behind

# Serve until Ctrl-C or `kill -TERM`, with a page at `/docs` on request.
from .exam_server import serve_exam as serve_exam

# Where a server listens.
from .listening import Listening as Listening

# The path under which metrics are served.
from .metrics import PATH as PATH

# The same as records: name, labels, value.
from .metrics import list_run_metrics as list_run_metrics

# The numbers of runs as Prometheus reads them.
from .metrics import render_run_metrics as render_run_metrics

# Serve the numbers of runs until interrupted; raises UsageError as `open_metrics_server`.
from .metrics import serve_run_metrics as serve_run_metrics

# Write the numbers of runs into a file, whole or not at all: for the textfile collector of Prometheus' node exporter.
from .metrics import write_run_metrics as write_run_metrics

# Pass when a server can listen there; raises UsageError.
from .server import check_free as check_free

# Serve until Ctrl-C or `kill -TERM`; raises UsageError when the address is taken, or this host is not like the others.
from .web_server import serve_web as serve_web
