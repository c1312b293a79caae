"""The stores of an installation as files and services: whether they are there, its own, whole, and answer."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
