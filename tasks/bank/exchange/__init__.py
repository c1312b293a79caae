"""Questions of the bank as they leave it: bare, as they are put, or as records."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
