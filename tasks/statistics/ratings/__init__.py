"""Elo and Bradley-Terry, and how steady they and S are when fewer questions are drawn."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
