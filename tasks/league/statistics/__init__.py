"""What a league's results are worth: intervals, tests and replays."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
