"""Closed lists of words that several tables share."""

from __future__ import annotations

from schemas.errors import UsageError, suggest

QUESTION_TYPES = (
    "multiple_choice",
    "true_false",
    "fill_in_the_blank",
    "short_answer",
    "term_explanation",
    "material_analysis",
    "calculation",
    "essay",
)

# The 13 primary disciplines of China's Ministry of Education (LLMEval-Fair, appendix A.1.1).
DISCIPLINES = (
    "Philosophy",
    "Economics",
    "Law",
    "Education",
    "Literature",
    "History",
    "Science",
    "Engineering",
    "Agronomy",
    "Medicine",
    "Military Science",
    "Management",
    "Arts",
)

# The ten that are examined by default (LLMEval-Fair, table 8); the others are banked, not sampled.
EXAMINED_DISCIPLINES = (
    "Engineering",
    "Economics",
    "Education",
    "Law",
    "Literature",
    "Management",
    "Science",
    "History",
    "Medicine",
    "Military Science",
)

SOURCE_KINDS = ("undergraduate_final", "postgraduate_entrance", "other")
LANGUAGES = ("zh", "en")
PROMPT_STYLES = ("zero_shot", "few_shot", "chain_of_thought")

# What a candidate may say of its answer. A refused or empty answer gets 0 stars and keeps its status (SPEC 6.2).
GIVEN_STATUSES = ("answered", "empty", "refused", "truncated")
# `error`: the call to an in-house candidate had failed for good when its session was closed; no candidate can claim it.
ANSWER_STATUSES = (*GIVEN_STATUSES, "error")
# In the ledger alone: the time for the question was over. It lands as an allocation without a response.
UNANSWERED = "unanswered"
PARSE_STATUSES = ("parsed", "unparsed")
# Why texts of answers were erased: the installation keeps them so long and no longer; a candidate took them back.
ERASURE_CAUSES = ("policy", "withdrawal")

ROLES = ("admin", "examiner", "candidate", "annotator", "analyst")

# How a league's round was judged: as it was played, or again without the reference answer (an ablation).
LEAGUE_RUN_TYPES = ("full", "without_reference")
# What running code came to; `refused` where the machine offers no room without network.
LEAGUE_EXECUTIONS = ("passed", "failed", "error", "timeout", "memory", "refused")


def check_discipline(name: str) -> None:
    """Pass for a discipline; else raise UsageError that says which may be meant."""
    if name not in DISCIPLINES:
        listed = f" Use one of {', '.join(DISCIPLINES)}."
        raise UsageError(f"Discipline {name!r} is unknown.{suggest(name, DISCIPLINES) or listed}")
