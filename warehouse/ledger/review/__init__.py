"""Review in the ledger.

Here are batches and their assignments, gold questions, annotators, and the web desk.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
