"""Plans of a month: which questions each candidate is to be asked, drawn under quotas."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
