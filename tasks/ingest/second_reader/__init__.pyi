# What the model's help came to.
from .asking import AssistanceSummary as AssistanceSummary

# How many papers a model would read, and what one try costs at most.
from .asking import AssistanceEstimate as AssistanceEstimate

# The registered models that papers may be sent to.
from .asking import list_readers as list_readers

# Under which name a month's money is kept.
from .asking import name_month_budget as name_month_budget

# Who may be asked, and with what: the ledger keeps every call.
from .asking import Assistant as Assistant

# The registered model that may help, checked before anything is read.
from .asking import read_assist_model as read_assist_model

# The better one of two readings, and whether that is the second.
from .choice import choose_reading as choose_reading

# Whether a paper may have been read wrongly by the rules.
from .choice import is_doubtful as is_doubtful

# The questions of a reading, and the numbers of those that are not in the paper.
from .pointed import PointedReading as PointedReading

# The numbered lines of a paper and of its answer file.
from .shown import ShownLines as ShownLines

# The pictures of a document on its pages, to which areas of these may be added.
from .areas import PagePictures as PagePictures

# The lines of a document, the rows of sheets as lines.
from .shown import list_lines as list_lines

# What a reader said, from its JSON.
from .pointed import parse_said as parse_said

# The questions that a reader points at.
from .pointed import read_pointed as read_pointed

# The lines of a paper and of its answer file that say anything.
from .shown import show_lines as show_lines

# What a second reader is shown of a paper.
from .shown import ShownPaper as ShownPaper

# The messages that put a window to a model.
from .requests import make_messages as make_messages

# The lines of a paper from one on, as many as fit, numbered.
from .requests import make_window as make_window
