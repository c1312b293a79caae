"""How work runs, and how it is recorded and reported.

Work runs once, is agreed to, is seen, is spread over workers, is recorded, and is reported when it ends badly.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
