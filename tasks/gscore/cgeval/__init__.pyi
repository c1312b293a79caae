# The run that answers belong to where none is named.
from .answering import DEFAULT_RUN as DEFAULT_RUN

# Answers of every registered candidate that has any in the run (of those named, all must).
from .answering import list_answering_models as list_answering_models

# What the model answered in a run, one row per question in their order; nothing is called.
from .answering import read_answers as read_answers

# Write the CSV that CG-Eval's site takes: the question file's columns as they were, and 回答; return the number of answers.
from .files import export_cgeval_submission as export_cgeval_submission

# Ask a registered model what it has not answered yet, and land what the calls cost, also when it was stopped.
from .landing import answer_and_land as answer_and_land

# Score what a model has answered against the references and land the rows; nothing is called.
from .landing import score_and_land as score_and_land

# How answers are scored.
from .landing import Scoring as Scoring

# Check CG-Eval's question file and keep a copy, byte for byte; the same file again changes nothing.
from .question_set import import_questions as import_questions

# How many questions CG-Eval published.
from .question_set import PUBLISHED_COUNT as PUBLISHED_COUNT

# The imported questions as `read_cgeval_questions` gives them, with `seq`, their place in the file from 1.
from .question_set import read_questions as read_questions

# Read reference answers: one row per question that has any, in the questions' order.
from .question_set import read_references as read_references

# The types of the bank that Gscore scores.
from .own_bank import SCORED_TYPES as SCORED_TYPES

# Write questions of the bank, each with our prompt, in the form of CG-Eval's file, and their references; the same again gives the same bytes.
from .own_bank import write_bank_questions as write_bank_questions

# The version of these prompts.
from .prompts import PROMPT_VERSION as PROMPT_VERSION
