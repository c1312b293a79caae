"""Originals of papers as they were at ingest: pages, places of questions, their boxes."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
