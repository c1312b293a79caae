# Environment variables under which Prefect runs here.
from .local_server import build_environment as build_environment

# Make the folder of Prefect's state. Raises StoreError.
from .local_server import create_prefect_home as create_prefect_home

# Whether the server serves Prefect's web page.
from .local_server import has_page as has_page

# Whether the worker that was started with the server still runs.
from .local_server import has_worker as has_worker

# Whether the server answers a call that shows our password.
from .local_server import is_healthy as is_healthy

# Folder of Prefect's own state.
from .local_server import prefect_home as prefect_home

# What was started last and not stopped, whether it still runs or not; None where nothing was, or it cannot be read.
from .local_server import read_started as read_started

# The running server of this PROCTOR_HOME, or None when there is none (or a dead one).
from .local_server import read_state as read_state

# What `proctor up` started.
from .local_server import ServerState as ServerState

# Start what is missing of server and worker; wait until the server answers, however long that takes.
from .local_server import start_server as start_server

# Stop the worker and the server of this PROCTOR_HOME; returns the process ids that were stopped.
from .local_server import stop_server as stop_server

# The header of a `name:password`; empty for none.
from .named_server import encode_password as encode_password

# A Prefect server by its address, and what it answers.
from .named_server import PrefectServer as PrefectServer

# The server that PREFECT_API_URL names, with the key or password beside it; None where none is named.
from .named_server import read_named_server as read_named_server

# The lines of a run that the server which PREFECT_API_URL names has, oldest first, as our own log has them.
from .prefect_lines import fetch_run_lines as fetch_run_lines

# Do what waits of runs that others conduct, until nothing does; returns counts, and whether something was left.
from .worker import do_jobs as do_jobs

# Run what deployments start until Ctrl-C or `kill -TERM`; `limit` runs at once at most.
from .worker import serve_worker as serve_worker
