"""The one door to models: calls that are paid once, within a budget, at a pace."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
