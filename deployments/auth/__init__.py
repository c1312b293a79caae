"""Who signs in: kinds of sign-in, accounts, throttling, sessions, limits of requests.

Shared by the exam API and the web pages.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
