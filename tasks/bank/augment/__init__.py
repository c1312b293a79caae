"""Variants of questions: by rule, and written by a registered model."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
