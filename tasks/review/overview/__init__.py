"""How far reviewing is: batches, people, and reminders to those who are late."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
