"""A model reads papers too: what it is asked, what it points at, which reading is taken."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
