"""Published editions in the formats of other tools.

They are logs of Inspect, samples of lm-evaluation-harness, a leaderboard as JSON, and a citation.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
