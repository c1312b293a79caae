# The gates that keep a run from being published, by name.
from .gates import GATES as GATES

# Compute the rows of `improvements` since a month and land them; returns them.
from .improvements import write_improvements as write_improvements

# All editions up to the last of a run fitted from nothing, beside what was published.
from .recalibration import compute_recalibration as compute_recalibration

# What is drawn.
from .stability import StabilityRequest as StabilityRequest

# Draw from the last edition of a run and land `bootstrap_scores` and `rating_curves`.
from .stability import write_stability as write_stability

# Publish a run once; an empty id means that there is none.
from .task import publish_edition as publish_edition

# Compute the root of every edition again; `roots` are the ledger's, by edition.
from .verify import find_changed_editions as find_changed_editions

__all__ = [
    "GATES",
    "StabilityRequest",
    "compute_recalibration",
    "find_changed_editions",
    "publish_edition",
    "write_improvements",
    "write_stability",
]
