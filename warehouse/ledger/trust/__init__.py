"""What the ledger is held to.

That is accounts, approvals, the audit log as it is read, seals, erasures and editions.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
