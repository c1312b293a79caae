# A recorded decision: whose it is, how and when (ISO text in UTC) it came in.
from .decision import Decision as Decision

# What an annotator gave for one question, whatever the channel; `edit` only with the decision `edit`.
from .decision import GivenDecision as GivenDecision

# The corrected fields of a question; null leaves a field as it is.
from .decision import Edit as Edit

# The content of a question without what only its document knows (language, kind of exam).
from .decision import EDITABLE_FIELDS as EDITABLE_FIELDS

# Something wrong with a given decision: the field it lies in, and a sentence without the question's text.
from .faults import Fault as Fault

# Everything that is wrong with a decision on a question of that content; empty when it can be recorded.
from .faults import find_faults as find_faults

# What keeps corrected fields from being an `Edit`.
from .faults import find_shape_faults as find_shape_faults

# Where every item stands, in the order given.
from .gate import compute_outcomes as compute_outcomes

# Where a question stands, with the content and revision that this makes current.
from .gate import Outcome as Outcome

# Rows of the ledger table `review_questions`, from rows of `questions` or `variants`.
from .item import encode_items as encode_items

# A question as it lies in a batch; `document_id` and `source` are null for a variant.
from .item import Item as Item
