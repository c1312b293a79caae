"""The exam API for outside candidates and for in-house runs over HTTP."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
