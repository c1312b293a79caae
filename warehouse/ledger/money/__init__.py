"""What is paid for in the ledger: calls and replies, budgets, providers' batches, paces."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
