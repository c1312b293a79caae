"""What a question is: its identity, its rules, and how it is put and shown."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
