# Land what the ledger has closed and the lake lacks; returns the rows newly landed, by table.
from .task import reconcile as reconcile

# Land what the ledger has closed and the lake lacks: a kill between the two leaves nothing behind.
from .task import reconcile_stores as reconcile_stores
