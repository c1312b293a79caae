"""Closed runs leave the ledger: which may go, why the others must stay, and the going."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
