"""The packages of an installation: licences, a bill of materials, known advisories."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
