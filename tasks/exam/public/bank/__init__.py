"""The bank as it is committed to in public: sealed, blinded, shown question by question."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
