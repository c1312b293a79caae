"""How far raters and judges agree: kappa, alpha and shares, with their intervals."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
