# The grade that a run's edition will have, and what the next one takes; an empty text for the highest.
from .grades import foresee_grade as foresee_grade

# The gates that keep a run from being published, by name.
from .gates import GATES as GATES

# State every edition's grade in `public/grades.json`, and land what has changed.
from .grades import keep_grades as keep_grades

# Compute the rows of `improvements` since a month and land them; returns them.
from .improvements import write_improvements as write_improvements

# All editions up to the last of a run fitted from nothing, beside what was published.
from .recalibration import compute_recalibration as compute_recalibration

# What is drawn.
from .stability import StabilityRequest as StabilityRequest

# Draw from the last edition of a run and land `bootstrap_scores` and `rating_curves`.
from .stability import write_stability as write_stability

# State every edition's grade again, once witnesses were told.
from .task import grade_editions as grade_editions

# Publish a run once; an empty id means that there is none.
from .task import publish_edition as publish_edition

# Compute the root of every edition again; `roots` are the ledger's, by edition.
from .roots import find_changed_editions as find_changed_editions
