"""What is paid for in the ledger: calls and their replies, budgets, batches, paces.

The batches are those at providers.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
