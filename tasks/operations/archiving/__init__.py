"""Texts erased on request: what goes, what stays as a hash, and the entry that says so."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
