# A look at answers, as the audit log records it.
from .access import Look as Look

# Who sees runs, questions, answers and stars. Candidates and annotators see none of it.
from .access import WATCHERS as WATCHERS

# Whether somebody of that role sees reference answers.
from .access import may_read_references as may_read_references

# Write that somebody looks at questions or answers, before they are shown: who, at what kind, at which id; never a text.
from .access import note_look as note_look

# Which of the candidate's answers hold a text, or answer a question that holds it; whatever the case.
from .answers import find_text as find_text

# Every question that the candidate was handed in the run, by prompt style, repeat and position; no text is read.
from .answers import list_answers as list_answers

# One answer whole. Without `with_reference` neither the reference answer nor a judge's reason is even read.
from .answers import read_answer as read_answer

# How the questions and answers of a page begin.
from .answers import read_excerpts as read_excerpts

# Which lines are asked for; null leaves nothing out.
from .lines import AnswerFilter as AnswerFilter

# One question that a candidate was handed.
from .lines import AnswerLine as AnswerLine

# Judges differ by as many stars.
from .lines import DISPUTES as DISPUTES

# The stars by which answers are filtered.
from .lines import STARS as STARS

# The statuses by which answers are filtered.
from .lines import STATUSES as STATUSES

# The page of that number, or the nearest that there is.
from .lines import cut_page as cut_page

# The lines that are asked for, in their order; `keys` are where a searched text stands, null without a search.
from .lines import filter_lines as filter_lines

# The progress of all open runs; safe for threads.
from .progress import ProgressReading as ProgressReading

# Months of which something is published, the latest first.
from .results import list_published_months as list_published_months

# Everything that is published of a month, by run; the month's own run before its repetitions.
from .results import read_month as read_month

# Runs on one page.
from .runs import RUNS_PER_PAGE as RUNS_PER_PAGE

# A run.
from .runs import WatchedRun as WatchedRun

# The run of that name; null for none. While it is open, and until it lands, it is read from the ledger.
from .runs import find_run as find_run

# A page of the runs in the lake, the latest first, and how many runs there are.
from .runs import list_landed_runs as list_landed_runs

# The sessions of a run by candidate, prompt style and repeat: session_id, model, prompt_style, repeat, status,
from .runs import list_sessions as list_sessions

__all__ = [
    "DISPUTES",
    "RUNS_PER_PAGE",
    "STARS",
    "STATUSES",
    "WATCHERS",
    "AnswerFilter",
    "AnswerLine",
    "Look",
    "ProgressReading",
    "WatchedRun",
    "cut_page",
    "filter_lines",
    "find_run",
    "find_text",
    "list_answers",
    "list_landed_runs",
    "list_published_months",
    "list_sessions",
    "may_read_references",
    "note_look",
    "read_answer",
    "read_excerpts",
    "read_month",
]
