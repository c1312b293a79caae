"""The bank, and all that is known of one of its questions.

Its questions are multiplied, freed of duplicates, exchanged and retired.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
