"""Scores corrected for their judge, and the drift of a judge."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
