# Return an answer's standard form: equal for two spellings of the same characters, units and order kept.
from .calculation.final_answer import compute_standard_answer as compute_standard_answer

# Answers of every registered candidate that has any in the run (of those named, all must).
from .cgeval.answering import list_answering_models as list_answering_models

# What the model answered in a run, one row per question in their order; nothing is called.
from .cgeval.answering import read_answers as read_answers

# Write the CSV that CG-Eval's site takes: the question file's columns as they were, and 回答; return the number of answers.
from .cgeval.files import export_cgeval_submission as export_cgeval_submission

# Ask a registered model what it has not answered yet, and land what the calls cost, also when it was stopped.
from .cgeval.landing import answer_and_land as answer_and_land

# Score what a model has answered against the references and land the rows; nothing is called.
from .cgeval.landing import score_and_land as score_and_land

# How many questions CG-Eval published.
from .cgeval.question_set import PUBLISHED_COUNT as PUBLISHED_COUNT

# Check CG-Eval's question file and keep a copy, byte for byte; the same file again changes nothing.
from .cgeval.question_set import import_questions as import_questions

# The imported questions as `read_cgeval_questions` gives them, with `seq`, their place in the file from 1.
from .cgeval.question_set import read_questions as read_questions

# Read reference answers: one row per question that has any, in the questions' order.
from .cgeval.references import read_references as read_references

# The embedding model is not there, or is not one that can be used; Gscore is then null, its other parts are not.
from .metrics.similarity import EmbeddingModelError as EmbeddingModelError

# Where a model lies on this machine, its name first; nothing is loaded or fetched. Raises EmbeddingModelError as `load_embedder`.
from .metrics.similarity import find_embedding_model as find_embedding_model

# Load a sentence-transformers model by its name (from the local model cache) or from a folder.
from .metrics.similarity import load_embedder as load_embedder

# Rank correlation of Gscore, and of each of its parts, with people, by profile and similarity model.
from .people.agreement import compute_sample_agreement as compute_sample_agreement

# Read a filled-in workbook of a sample and land its scores; an empty score is no rating.
from .people.landing import land_ratings as land_ratings

# Write the responses to be scored, in an order that tells nothing, without models or Gscores.
from .people.rating_workbook import export_rating_workbook as export_rating_workbook

# Draw answers for people to score: subjects in the shares of the pool, one model at random for each question.
from .people.sample import draw_sample as draw_sample

# A sample that was kept; raises UsageError naming those there are.
from .people.sample import read_sample as read_sample

# Keep a sample under a name; returns whether it is new. Raises UsageError when the name holds another sample.
from .people.sample import write_sample as write_sample

# Score every pair of a CSV, TSV, JSONL or Parquet file; write Parquet, CSV or JSONL, one row per pair in the same order.
from .scored_files import score_file as score_file

# Put CG-Eval's questions to a model that it has not answered in this run; nothing is paid for twice.
from .task import answer_cgeval as answer_cgeval

# Score what the model has answered against the references in a file, and land the rows.
from .task import score_cgeval as score_cgeval

# How answers are scored.
from .cgeval.landing import Scoring as Scoring

# How the pairs of a file are scored.
from .scored_files import FileScoring as FileScoring

__all__ = [
    "PUBLISHED_COUNT",
    "EmbeddingModelError",
    "FileScoring",
    "Scoring",
    "answer_and_land",
    "answer_cgeval",
    "compute_sample_agreement",
    "compute_standard_answer",
    "draw_sample",
    "export_cgeval_submission",
    "export_rating_workbook",
    "find_embedding_model",
    "import_questions",
    "land_ratings",
    "list_answering_models",
    "load_embedder",
    "read_answers",
    "read_questions",
    "read_references",
    "read_sample",
    "score_and_land",
    "score_cgeval",
    "score_file",
    "write_sample",
]
