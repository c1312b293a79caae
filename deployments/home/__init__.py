"""A home as a whole: made, backed up, restored, and shared by hosts."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
