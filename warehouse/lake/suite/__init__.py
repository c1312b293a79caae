"""The rules of the tables as a Great Expectations suite, with its pages."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
