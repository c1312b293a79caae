# How many questions of an open batch were given to somebody, and how many of them are decided; 0 and 0 where none was.
from .queue import count_batch_work as count_batch_work

# How many decisions somebody gave since a moment (ISO text in UTC), in any batch.
from .queue import count_decided_since as count_decided_since

# How many questions of an open batch stand in each of somebody's queues, decided or not.
from .queue import count_listed as count_listed

# At most `count` lines of a queue from `start` (0 the first).
from .queue import list_queue as list_queue

# What somebody has to do, by batch; what is due first comes first.
from .queue import list_work as list_work

# The question, if it was given to this annotator in this batch; null otherwise.
from .queue import open_question as open_question

# One question as it is put before its annotator.
from .queue import OpenQuestion as OpenQuestion

# A queue of the web desk.
from .queue import Queue as Queue

# The queues of the web desk, by name.
from .queue import QUEUES as QUEUES

# The UUID of the first question of a queue that waits for a decision; null when none does.
from .queue import read_first as read_first

# The UUID of the question that somebody decided last in the batch, before a moment if one is given.
from .queue import read_last_decided as read_last_decided

# Keep what was begun (null: nothing any more); false when the question was not given to this annotator.
from .queue import save_draft as save_draft

# Everybody with work in the batch and their role, by name.
from .work import list_people as list_people

# What is given to somebody in that role, by question.
from .work import read_work as read_work

# A question given to somebody.
from .work import WorkItem as WorkItem

__all__ = [
    "QUEUES",
    "OpenQuestion",
    "Queue",
    "WorkItem",
    "count_batch_work",
    "count_decided_since",
    "count_listed",
    "list_people",
    "list_queue",
    "list_work",
    "open_question",
    "read_first",
    "read_last_decided",
    "read_work",
    "save_draft",
]
