"""The practice room: a session that counts for nothing, for who wants to try the exam API."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
