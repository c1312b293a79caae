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

# The question whose likes are those of one under review.
from .similar import find_comparable as find_comparable

# Keys and contents of a batch's questions that are to be reviewed, some hundreds at once.
from .similar import list_comparable as list_comparable

# The batches whose questions are compared, oldest first.
from .similar import list_compared_batches as list_compared_batches

# A question as it was decided; null where it was not, or the annotator may not know it.
from .similar import read_settled as read_settled

# Everybody with work in the batch and their role, by name.
from .queue import list_people as list_people

# What is given to somebody in that role, by question.
from .queue import read_work as read_work

# A question given to somebody.
from .queue import WorkItem as WorkItem

# A conversation on a question by its last message.
from .messages import Conversation as Conversation

# How many conversations wait for an answer.
from .messages import count_waiting as count_waiting

# The conversations of all annotators or one, those that wait for an answer first.
from .messages import list_conversations as list_conversations

# The longest message, in characters.
from .messages import MOST_CHARACTERS as MOST_CHARACTERS

# What somebody writes on a question.
from .messages import NewMessage as NewMessage

# What somebody may read of a batch's messages, by question.
from .messages import read_shown_messages as read_shown_messages

# A question of a batch with all that was written on it, for a coordinator; null where there is none.
from .messages import open_for_coordinator as open_for_coordinator

# Add a message on a question; false where its author has just said the same.
from .messages import write_message as write_message

# Every version of the guidelines with how many people have read it, the newest first.
from .guidelines import list_guidelines as list_guidelines

# The versions of the guidelines that somebody has not read yet, the first one first.
from .guidelines import list_unread_guidelines as list_unread_guidelines

# Keep that somebody has read the guidelines up to a version.
from .guidelines import mark_guidelines_read as mark_guidelines_read

# A version of the guidelines, and by how many people it was read.
from .guidelines import ReadVersion as ReadVersion

# Let a new version of the guidelines hold; returns its number.
from .guidelines import publish_guidelines as publish_guidelines
