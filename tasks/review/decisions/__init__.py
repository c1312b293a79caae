"""A question under review, what is decided of it, and what follows from two decisions."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
