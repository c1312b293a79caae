"""Control answers: of known worth, put to a judge like any other."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
