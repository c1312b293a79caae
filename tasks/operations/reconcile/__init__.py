"""What the ledger has closed and the lake lacks is landed, before every flow."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
