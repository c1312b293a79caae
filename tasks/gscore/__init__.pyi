# Return an answer's standard form: equal for two spellings of the same characters, units and order kept.
from .calculation.final_answer import compute_standard_answer as compute_standard_answer

# The embedding model is not there, or is not one that can be used; Gscore is then null, its other parts are not.
from .metrics.similarity import EmbeddingModelError as EmbeddingModelError

# Where a model lies on this machine, its name first; nothing is loaded or fetched. Raises EmbeddingModelError as `load_embedder`.
from .metrics.similarity import find_embedding_model as find_embedding_model

# Load a sentence-transformers model by its name (from the local model cache) or from a folder.
from .metrics.similarity import load_embedder as load_embedder

# How the pairs of a file are scored.
from .scored_files import FileScoring as FileScoring

# Score every pair of a CSV, TSV, JSONL or Parquet file; write Parquet, CSV or JSONL, one row per pair in the same order.
from .scored_files import score_file as score_file

# Put CG-Eval's questions to a model that it has not answered in this run; nothing is paid for twice.
from .task import answer_cgeval as answer_cgeval

# Score what the model has answered against the references in a file, and land the rows.
from .task import score_cgeval as score_cgeval
