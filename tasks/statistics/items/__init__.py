"""The graded response model of the questions, and scores equated on its scale."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
