"""The exam protocol as a state machine.

Its steps are open, next, answer and close; it has leases, quotas and tokens.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
