# Agreement of the raters in a table.
from .agreement import compute_table_agreement as compute_table_agreement

# One row per benchmark with published scores: benchmark, spearman_rho, p_value (two-sided, t approximation), candidate_count.
from .agreement import correlate_benchmarks as correlate_benchmarks

# What came of a file.
from .landing import ImportedFile as ImportedFile

# Land scores that others published, by model and day, in `external_scores`; the file replaces the benchmark's earlier one.
from .landing import import_external as import_external

# Land samples of lm-evaluation-harness; raises what parse_harness_samples does.
from .landing import import_harness as import_harness

# Land an Inspect log; raises what parse_inspect_log does.
from .landing import import_inspect as import_inspect

# Land records of figure 8 (LLMEval-Fair): each response with the stars of its judge, where it has any.
from .landing import import_question_records as import_question_records

# Land a table of marks (`scores`), of responses without marks, or of people's marks (`ratings`).
from .landing import import_table as import_table

# The columns of imported marks of people.
from .tables import MARK_FIELDS as MARK_FIELDS

# The columns of imported scores.
from .tables import SCORE_FIELDS as SCORE_FIELDS

# The mapped columns under our names; a column of our name is taken without a mapping, any other field is null.
from .tables import apply_mapping as apply_mapping

# `field=column` pairs as our field → their column; raises UsageError for a field that is none or stands there twice.
from .tables import parse_mapping as parse_mapping

# Ids of other imports of a file of this name for this benchmark: their rows count beside this one's.
from .landing import list_namesakes as list_namesakes

# Empty the import of that file name, or whose id begins so; `landings` keeps that it was there and was emptied.
from .landing import withdraw_import as withdraw_import
