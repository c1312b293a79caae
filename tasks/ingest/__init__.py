"""Papers become questions: readers, layout, content, and what a person must look at."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
