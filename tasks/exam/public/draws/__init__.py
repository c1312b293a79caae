"""The draw of a run: committed to before it, disclosed after it."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
