"""Who signs in, for exam API and web: kinds, accounts, throttling, sessions, limits."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
