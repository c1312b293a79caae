# A month's run: which one it is, who sits it, on which bank.
from . import month as month

# What a response answers, in the form of the bank's keys; null where nothing can be read.
from .answers import extract_answer as extract_answer

# The guide of a session: its style in words, worked examples (few-shot only) and grading, each by language.
from .guide import describe_session as describe_session

# What is asked of an answer to a question and how it is graded, in the question's language.
from .guide import describe_task as describe_task

# Sit what waits of a run that another process conducts, until nothing does; returns counts.
from .helping import help_to_sit as help_to_sit

# The exam API at an address; an async context manager.
from .http_calls import HttpCaller as HttpCaller

# How far a candidate is in a run.
from .run_progress import CandidateProgress as CandidateProgress

# The ids of the runs that are not closed, in the order in which they were planned.
from .run_progress import list_runs_under_way as list_runs_under_way

# How far a run is at this moment; raises UsageError for an unknown run.
from .run_progress import read_run_progress as read_run_progress

# How far a run is.
from .run_progress import RunProgress as RunProgress

# What is wished of a run; what is not said is as the settings and the month have it.
from .plan.wishes import RunWishes as RunWishes

# Give the exam API the pictures of open seats that it lacks, and take the others from it; what kept one from it.
from .shown_pictures import share_pictures as share_pictures

# The part of a run that a process sits, and how it comes to it.
from .sitting import SittingPart as SittingPart

# Close the sessions whose deadline has passed; what is unanswered in them counts 0.
from .task import close_overdue_sessions as close_overdue_sessions

# Book what providers have answered in batches; what waits for it continues with the next `evaluate` or `judge`.
from .task import collect_provider_batches as collect_provider_batches

# Land what has closed in the ledger: sessions, responses, calls, and the access log as far as it goes.
from .task import land_run as land_run

# Plan the month's run and publish the plan; returns its id, or an empty one when nobody is due.
from .task import plan_month as plan_month

# Let every in-house candidate of the run answer what it has not answered yet, beside other flows where several share the run.
from .task import sit_run as sit_run
