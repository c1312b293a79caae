"""Every stage held to what closed it, and a star walked back to the page of its question."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
