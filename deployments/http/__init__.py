"""HTTP servers and how each is started.

This covers connections and their limits, lines of access, metrics, and how each server is started.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
