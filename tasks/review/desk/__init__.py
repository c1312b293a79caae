"""What lies on an annotator's desk: queue, question, draft and work."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
