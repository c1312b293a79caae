"""The public log: its file, signed heads, witnesses and check."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
