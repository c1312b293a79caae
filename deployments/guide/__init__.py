"""The first month of one's own, step by step: what is there decides what comes next."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
