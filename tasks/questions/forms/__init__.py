"""The forms in which a question leaves: bare, as a prompt, as a record."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
