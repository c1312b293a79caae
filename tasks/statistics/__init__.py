"""Statistics: pure functions over numbers, each pinned to a published or textbook value."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
