"""Workbooks in which a person marks what is shown: written, opened by the guard, read back."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
