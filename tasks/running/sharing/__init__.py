"""A run that one process conducts, and the jobs of it that any worker takes."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
