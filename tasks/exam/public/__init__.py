"""What an exam publishes about itself so that anybody can check it: see docs/verify.md."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
