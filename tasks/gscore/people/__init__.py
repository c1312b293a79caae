"""People rate a sample of scored answers, and how far Gscore agrees with them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
