"""What is found in the text of a reply: objects, and whose words they are."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
