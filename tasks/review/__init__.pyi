# Agreement and throughput of one batch, discipline, annotator, or pair of annotators.
from .agreement import Agreement as Agreement

# Agreement per batch, discipline, annotator and pair of annotators, in that order and by name.
from .agreement import compute_review_agreement as compute_review_agreement

# Questions per day of somebody's window: their own where one is registered, else the setting.
from .annotators import read_daily_quota as read_daily_quota

# Set what is given of an annotator and leave the rest; returns them as they are then.
from .annotators import write_annotator as write_annotator

# What was assigned, and what was left out and waits. `batch_id` is null when every question is in several batches already.
from .assignment import AssignmentSummary as AssignmentSummary

# Open a review batch with those of `questions` that are in no batch yet; running it again changes nothing.
from .assignment import assign_batch as assign_batch

# Every batch that still takes decisions, oldest first.
from .batch import list_open_batches as list_open_batches

# Every file as submissions of its good annotations, one per person, and a refusal that names the bad ones.
from .channels.label_studio.reading import read_label_studio as read_label_studio

# Write the tasks of a batch, or of every open one, and the configuration of each language; returns the paths.
from .channels.label_studio.writing import export_label_studio as export_label_studio

# The decision, or the faults that keep it from being one.
from .channels.web.parsing import parse_decision as parse_decision

# What a card shows where a question has no answer.
from .channels.workbook.card import NO_ANSWER as NO_ANSWER

# How a section begins.
from .channels.workbook.card import name_heading as name_heading

# What the cells to fill in hold when a decision has been given already, by column name.
from .channels.workbook.cells import render_input_cells as render_input_cells

# The first row of a workbook's sheet with a question.
from .channels.workbook.layout import FIRST_ROW as FIRST_ROW

# The hidden sheet of a workbook, which says what it is.
from .channels.workbook.layout import HIDDEN_SHEET as HIDDEN_SHEET

# The sheet of a workbook that annotators fill in.
from .channels.workbook.layout import SHEET as SHEET

# The columns of a workbook in that language, in order.
from .channels.workbook.layout import list_columns as list_columns

# The text with its simple formulas in Unicode; what cannot be is as it was, delimiters included.
from .channels.workbook.mathematics import render_mathematics as render_mathematics

# The sentence in that language; one that the table lacks stays as it is.
from .channels.workbook.messages import translate as translate

# Open a workbook that came from outside; raises WorkbookError when it is too large, damaged, or no workbook.
from .channels.workbook.opening import open_workbook as open_workbook

# Every file as a submission of its good rows, and a refusal that names its bad ones.
from .channels.workbook.reading import read_workbooks as read_workbooks

# Write one workbook per annotator and role of the batch into `folder`; returns their paths.
from .channels.workbook.writing import export_batch as export_batch

# Write the workbooks of every batch that still takes decisions into `folder`; returns their paths.
from .channels.workbook.writing import export_open_batches as export_open_batches

# Apply the gate and close the batch; closing it again gives the same frames.
from .closing import close_batch as close_batch

# A batch in detail.
from .coordination import BatchDetail as BatchDetail

# Every batch, the newest first.
from .coordination import list_batch_summaries as list_batch_summaries

# One batch by discipline and annotator; raises UsageError for an unknown one.
from .coordination import read_batch_detail as read_batch_detail

# A recorded decision: whose it is, how and when (ISO text in UTC) it came in.
from .decision import Decision as Decision

# What an annotator gave for one question, whatever the channel; `edit` only with the decision `edit`.
from .decision import GivenDecision as GivenDecision

# What came of everything handed in: recorded, refused, disputes given out, batches that wait for nothing.
from .desk import DeskReport as DeskReport

# What recording a submission changed.
from .desk import SubmissionReceipt as SubmissionReceipt

# Something handed in of which nothing was recorded, and why: every fault with its place.
from .desk import RefusedSubmission as RefusedSubmission

# A decision was given on the question since the annotator looked at it; nothing was recorded.
from .desk import StaleError as StaleError

# Decisions of one annotator in one batch, as a channel parsed them.
from .desk import Submission as Submission

# Record each submission, all of it or none, and give the disputes that show to adjudicators.
from .desk import record as record

# Record one submission, as `record` does, for a channel that answers its annotator at once.
from .desk import record_one as record_one

# The content of a question without what only its document knows (language, kind of exam).
from .edit import EDITABLE_FIELDS as EDITABLE_FIELDS

# The corrected fields of a question; null leaves a field as it is.
from .edit import Edit as Edit

# Something wrong with a given decision: the field it lies in, and a sentence without the question's text.
from .faults import Fault as Fault

# Everything that is wrong with a decision on a question of that content; empty when it can be recorded.
from .faults import find_faults as find_faults

# What can be planted of the settled questions; empty for a share of 0.
from .gold import read_gold_supply as read_gold_supply

# Per annotator, by name; those without a planted question have no row.
from .gold_results import read_gold_scores as read_gold_scores

# A question as it lies in a batch; `document_id` and `source` are null for a variant.
from .item import Item as Item

# Land the batches that are closed in the ledger and not in the lake; returns rows newly landed by table.
from .landing import land_missing_batches as land_missing_batches

# Rows of `questions` that no landed decision settles; of a question found in two documents the first counts.
from .landing import read_unreviewed as read_unreviewed

# Put questions that nobody has reviewed into a batch, if there are annotators to give them to; returns ids and counts.
from .opening import open_waiting_batch as open_waiting_batch

# How far a batch is: questions by state (`accepted rejected waiting disputed`), and who still owes decisions.
from .progress import BatchProgress as BatchProgress

# What somebody has to do in the batches that are open.
from .progress import Workload as Workload

# How far every batch is, the oldest first.
from .progress import list_progress as list_progress

# What every annotator has to do, in all open batches or one, by name: those who are active, and others with open work.
from .progress import list_workloads as list_workloads

# One question as it is put before its annotator.
from .queue import OpenQuestion as OpenQuestion

# The queues of the web desk, by name.
from .queue import QUEUES as QUEUES

# A queue of the web desk.
from .queue import Queue as Queue

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

# The UUID of the first question of a queue that waits for a decision; null when none does.
from .queue import read_first as read_first

# The UUID of the question that somebody decided last in the batch, before a moment if one is given.
from .queue import read_last_decided as read_last_decided

# Keep what was begun (null: nothing any more); false when the question was not given to this annotator.
from .queue import save_draft as save_draft

# What was moved out of one batch.
from .reassignment import Reassignment as Reassignment

# Move what somebody has not decided yet, in every open batch or one, to those with the least work.
from .reassignment import reassign as reassign

# A letter.
from .reminders import Reminder as Reminder

# Hand the letters to the configured mail server; each says whether it went, and why not.
from .reminders import send_reminders as send_reminders

# A letter for everybody with open work, in one batch or all, by name.
from .reminders import write_reminders as write_reminders

# Close and land every batch that is decided or past its deadline; an empty id means all.
from .task import close_reviewed_batches as close_reviewed_batches

# Put questions that nobody has reviewed into a batch, if there are annotators to give them to.
from .task import open_review_batch as open_review_batch

# Give the sample of a model's variants to annotators, if there are any.
from .task import open_variant_samples as open_variant_samples

# Every first review, of one batch or of all; adjudications are no independent reviews and are left out.
from .votes import read_votes as read_votes

# The languages of what annotators read.
from .words import LANGUAGES as LANGUAGES

# A language of what annotators read.
from .words import Language as Language

# What is shown for each code of the topic, in the order of the table.
from .words import list_words as list_words

# The code for what a person chose or typed, in either language; null when it is none, or may be two.
from .words import parse_word as parse_word

# What else holds of a batch that is assigned.
from .assignment import AssignmentTerms as AssignmentTerms

__all__ = [
    "EDITABLE_FIELDS",
    "FIRST_ROW",
    "HIDDEN_SHEET",
    "LANGUAGES",
    "NO_ANSWER",
    "QUEUES",
    "SHEET",
    "Agreement",
    "AssignmentSummary",
    "AssignmentTerms",
    "BatchDetail",
    "BatchProgress",
    "Decision",
    "DeskReport",
    "Edit",
    "Fault",
    "GivenDecision",
    "Item",
    "Language",
    "OpenQuestion",
    "Queue",
    "Reassignment",
    "RefusedSubmission",
    "Reminder",
    "StaleError",
    "Submission",
    "SubmissionReceipt",
    "Workload",
    "assign_batch",
    "close_batch",
    "close_reviewed_batches",
    "compute_review_agreement",
    "count_batch_work",
    "count_decided_since",
    "count_listed",
    "export_batch",
    "export_label_studio",
    "export_open_batches",
    "find_faults",
    "land_missing_batches",
    "list_batch_summaries",
    "list_columns",
    "list_open_batches",
    "list_progress",
    "list_queue",
    "list_words",
    "list_work",
    "list_workloads",
    "name_heading",
    "open_question",
    "open_review_batch",
    "open_variant_samples",
    "open_waiting_batch",
    "open_workbook",
    "parse_decision",
    "parse_word",
    "read_batch_detail",
    "read_daily_quota",
    "read_first",
    "read_gold_scores",
    "read_gold_supply",
    "read_label_studio",
    "read_last_decided",
    "read_unreviewed",
    "read_votes",
    "read_workbooks",
    "reassign",
    "record",
    "record_one",
    "render_input_cells",
    "render_mathematics",
    "save_draft",
    "send_reminders",
    "translate",
    "write_annotator",
    "write_reminders",
]
