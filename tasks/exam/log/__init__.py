"""The audit log as evidence: signed heads, receipts, a full check, and its story in words."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
