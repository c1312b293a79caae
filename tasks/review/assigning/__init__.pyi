# Somebody who reviews.
from .annotators import Annotator as Annotator

# The annotators asked for, by id; null asks for all active ones of the ledger.
from .annotators import find_annotators as find_annotators

# The discipline of a question that has none.
from .annotators import NO_DISCIPLINE as NO_DISCIPLINE

# The active annotators of the ledger.
from .annotators import read_annotators as read_annotators

# Every annotator of the ledger by name, those who left too.
from .annotators import read_everybody as read_everybody

# Questions per day of somebody's window: their own where one is registered, else the setting.
from .annotators import read_daily_quota as read_daily_quota

# Set what is given of an annotator and leave the rest; returns them as they are then.
from .annotators import write_annotator as write_annotator

# Open a review batch with those of `questions` that are in no batch yet; running it again changes nothing.
from .assignment import assign_batch as assign_batch

# What was assigned, and what was left out and waits. `batch_id` is null when every question is in several batches already.
from .assignment import AssignmentSummary as AssignmentSummary

# A question that is doubted and not given out, as review has it or had it.
from .assignment import ReadBefore as ReadBefore

# What else holds of a batch that is assigned.
from .assignment import AssignmentTerms as AssignmentTerms

# The moment `days` after `now`, as the ledger writes moments.
from .assignment import compute_due as compute_due

# Questions of a discipline that were not assigned, and why in a sentence.
from .plan import LeftOut as LeftOut

# What can be planted of the settled questions; empty for a share of 0.
from .gold import read_gold_supply as read_gold_supply

# Rows of the table `gold_reviews`, of one batch or of all, open batches included.
from .gold import read_gold_rows as read_gold_rows

# Per annotator, by name; those without a planted question have no row.
from .gold import read_gold_scores as read_gold_scores

# Move what somebody has not decided yet, in every open batch or one, to those with the least work.
from .reassignment import reassign as reassign

# What was moved out of one batch.
from .reassignment import Reassignment as Reassignment
