"""How work runs: once, agreed to, seen, spread over workers, recorded, and reported when it ends badly."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
