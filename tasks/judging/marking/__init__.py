"""People who mark responses on the web, with stars, classes of failures and league verdicts."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
