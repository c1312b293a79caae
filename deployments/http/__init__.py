"""HTTP servers: connections and their limits, lines of access, metrics, and starting."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
