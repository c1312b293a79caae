"""The exam in the ledger: plans, sets, sessions and their seats, deadlines, answers, tokens."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
