"""The command line itself: how a command runs, prints, lists and explains itself."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
