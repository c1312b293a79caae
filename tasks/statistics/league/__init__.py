"""What a league's tables compute of its marks: tests, overlaps and intervals."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
