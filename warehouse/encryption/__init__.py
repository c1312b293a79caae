"""Encryption at rest: keys, sealed files, and their rotation."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
