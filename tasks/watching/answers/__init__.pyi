# Which lines are asked for; null leaves nothing out.
from .lines import AnswerFilter as AnswerFilter

# One question that a candidate was handed.
from .lines import AnswerLine as AnswerLine

# The page of that number, or the nearest that there is.
from .lines import cut_page as cut_page

# Judges differ by as many stars.
from .lines import DISPUTES as DISPUTES

# The lines that are asked for, in their order; `keys` are where a searched text stands, null without a search.
from .lines import filter_lines as filter_lines

# The stars by which answers are filtered.
from .lines import STARS as STARS

# The statuses by which answers are filtered.
from .lines import STATUSES as STATUSES

# Which of the candidate's answers hold a text, or answer a question that holds it; whatever the case.
from .reading import find_text as find_text

# Every question that the candidate was handed in the run, by prompt style, repeat and position; no text is read.
from .reading import list_answers as list_answers

# One answer whole. Without `with_reference` neither the reference answer nor a judge's reason is even read.
from .reading import read_answer as read_answer

# How the questions and answers of a page begin.
from .reading import read_excerpts as read_excerpts
