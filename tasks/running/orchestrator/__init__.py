"""Prefect's server as one of the stores.

It is waited for while it is away, and kept in step with the ledger's runs.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
