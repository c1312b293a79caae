"""What leads to a star, under proof.

Every stage is held to what closed it, and a star can be walked back to the page that its question stands on.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
