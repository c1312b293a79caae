"""Editions: what is published of a run, frozen with all that it rests on."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
