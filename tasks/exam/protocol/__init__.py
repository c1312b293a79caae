"""The exam protocol as a state machine: open, next, answer, close; leases, quotas, tokens."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
