"""How far judges agree with people, and the correction that follows from it."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
