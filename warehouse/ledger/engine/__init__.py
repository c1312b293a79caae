"""What every part of the ledger stands on.

That is connections, transactions, tables, the two logs, clock, leases and backups.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
