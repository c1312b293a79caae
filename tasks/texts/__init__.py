"""Texts in two languages, and texts at their limits.

Those are cut with a mark, erased, or written where a spreadsheet could run them.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
