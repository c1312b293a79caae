"""Whether a candidate knew questions before it was asked them.

The means are completion probes, the leak watch and public sets.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
