"""A learned reading: what each line is, by papers that were read well."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
