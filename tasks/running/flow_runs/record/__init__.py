"""Flow runs as the ledger knows them: noted, listed, lost and missed."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
