"""Looking at runs, their sessions and answers.

It is what people who watch an exam see, read from the lake and the ledger.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
