"""The exam: a month planned, sat by every candidate, and brought to its end."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
