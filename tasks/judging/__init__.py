"""Judges: what they are asked, how their verdicts are read, and what lands of them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
