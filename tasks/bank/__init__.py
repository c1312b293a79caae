"""The bank: its questions multiplied, freed of duplicates, exchanged, retired, and all that is known of one."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
