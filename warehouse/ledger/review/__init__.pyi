# The review gate in the ledger: batches, what is in them, who decides on what, and what was decided.
from . import assigning as assigning

# How far the review is, counted where it lies: for those who give the work out.
from . import coordination as coordination

# The web desk in the ledger: drafts, and an annotator's own queue.
from . import desk as desk

# Marks that people gave on the web: durable at once here, landed where a workbook's would land, then known as landed.
from . import desk_marks as desk_marks

# Questions with a known decision among the work of a review batch, in the ledger.
from . import gold as gold

# Versions of the annotators' guidelines, and who has read which.
from . import guidelines as guidelines

# Messages between annotators and coordinators on questions of review batches; none is changed or taken back.
from . import messages as messages

# Annotators in the ledger: who they are besides their name, and what is moved from one to another.
from . import people as people

# Take the questions of a document back out of review batches in which nobody has decided on them.
from . import withdrawal as withdrawal
