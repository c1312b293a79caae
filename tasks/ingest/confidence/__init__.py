"""How sure a reading is: its evidence, the fit that weighs it, and what is held whole."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
