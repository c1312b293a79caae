"""What an administrator would check by hand, as `proctor doctor` shows it.

There is one finding a line, each with what to do.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
