"""How flows run: Prefect's local server, workers, schedules and what continues a run."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
