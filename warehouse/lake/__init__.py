"""The lake: tables of every stage as Parquet files under DuckLake, landed unit by unit."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
