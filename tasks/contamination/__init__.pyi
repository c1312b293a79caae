# A line for each organisation.
from .leak_watch import describe_leaks as describe_leaks

# One row per organisation from the rows of `leak_rows` of one edition: organisation, question_count, met_count, gain in stars with
from .leak_watch import find_leaks as find_leaks

# One row per organisation of the last edition of a run: gain on questions met before, its error, and the power of the look.
from .leak_watch import watch_leaks as watch_leaks

# The question with its blank inside the messages; null when there is none.
from .spans import extract_passage as extract_passage

# The name of the bank among the sets that are probed.
from .replay import BANK as BANK

# The columns of a public set of questions.
from .replay import SET_FIELDS as SET_FIELDS

# Shares by candidate and source with Wilson's interval, and the bank beside every public set.
from .report import compare_sources as compare_sources

# The table in lines: a line for each candidate and source, then the differences.
from .report import describe_comparison as describe_comparison

# Replay questions of these sources (`bank` or files) to these models, three completions of each.
from .task import replay_questions as replay_questions

# The lines of a report: questions, who met them, and the probabilities.
from .tracing import describe_trace as describe_trace

# What is found in a text and who it points to.
from .tracing import trace_text as trace_text

# What is replayed.
from .replay import ReplayRequest as ReplayRequest
