# Look after runs on a thread of this process; returns what ends it.
from .task import start_watch as start_watch

# From now on this process waits for a Prefect server that is away, and is not ended for a place it could not renew meanwhile.
from .task import wait_for_server as wait_for_server
