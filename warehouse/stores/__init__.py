"""The stores of an installation as files and services.

Here it is found out whether they are there, belong to the installation, are whole, and answer.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
