"""The Prefect server of a home, its worker, and the lines that they write."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
