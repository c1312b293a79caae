"""What a candidate gained on questions it had met, and who a leaked text points to."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
