"""The two logs that the ledger chains: the audit log and the public log."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
