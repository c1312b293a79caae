"""A learned reading.

What each line of a paper is, by what papers look like that were read well.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
