"""Decisions handed in are recorded, and disagreements go to an adjudicator."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
