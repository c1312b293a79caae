"""The league: models examine each other."""

from __future__ import annotations

from dataclasses import replace

from schemas.columns import COST_USD, INPUT_TOKENS, OCCASION, OUTPUT_TOKENS, PARSE_STATUS, PROMPT_VERSION, RAW
from schemas.table import Column, Table

_LEAGUE = Column("league_id", "text", "The league.", required=True)
_RUN = Column("league_run", "int", "Independent run, from 1.", required=True, low=1)
_ROUND = Column("round", "int", "Round, from 1.", required=True, low=1)
_DOMAIN = Column("domain", "text", "Domain whose rules apply.", required=True)
_QUESTION = Column("league_question_id", "text", "The question.", required=True)
_OCCASION = replace(
    OCCASION, about="Why it was asked: `round` in its turn, `recheck` when it was asked again."
)
# What every reply in a league carries, so that it can be read again.
_REPLY = (RAW, PARSE_STATUS, PROMPT_VERSION, _OCCASION)
_KEY = ("league_id", "league_run", "round")

LEAGUE_ROUNDS = Table(
    "league_rounds", "One row per round.", _KEY, "a league round", "league",
    (_LEAGUE, _RUN, _ROUND, _DOMAIN,
     Column("asker", "text", "Candidate whose turn it was.", required=True),
     Column("finished_at", "timestamp", "When its last evaluation was in.")),
)  # fmt: skip

LEAGUE_QUESTIONS = Table(
    "league_questions", "One row per question set by an asker.", (*_KEY, "league_question_id"), "a league round", "league",
    (_LEAGUE, _RUN, _ROUND, _QUESTION,
     Column("asker", "text", "Who set it.", required=True),
     Column("stem", "text", "The question.", required=True),
     Column("reference_answer", "text", "The asker's reference answer.", required=True),
     Column("principle", "text", "Principle it isolates (mathematics)."),
     Column("scoring_standard", "text", "Standard of 100 points (programming)."),
     Column("is_validated", "bool", "Whether people confirmed it; null when not asked."),
     *_REPLY),
)  # fmt: skip

LEAGUE_ANSWERS = Table(
    "league_answers", "One row per answer.", (*_KEY, "league_question_id", "answerer"), "a league round", "league",
    (_LEAGUE, _RUN, _ROUND, _QUESTION,
     Column("answerer", "text", "Who answered.", required=True),
     Column("response", "text", "The answer."),
     INPUT_TOKENS,
     OUTPUT_TOKENS,
     COST_USD,
     *_REPLY),
)  # fmt: skip

LEAGUE_EVALUATIONS = Table(
    "league_evaluations", "One row per answer and judge; nobody judges itself.",
    (*_KEY, "league_question_id", "judge", "answerer"), "a league round", "league",
    (_LEAGUE, _RUN, _ROUND, _QUESTION,
     Column("judge", "text", "Who judged.", required=True),
     Column("answerer", "text", "Whose answer.", required=True),
     Column("rank", "int", "Rank given, from 1; null for scored domains.", low=1),
     Column("score", "float", "Borda points, or 0 to 100; null means unparsed."),
     Column("reason", "text", "Reason given."),
     *_REPLY),
)  # fmt: skip

LEAGUE_RANKINGS = Table(
    "league_rankings", "One row per candidate after each round.", (*_KEY, "model"), "a league round", "league",
    (_LEAGUE, _RUN, _ROUND,
     Column("model", "text", "The candidate.", required=True),
     Column("score", "float", "Mean score so far.", required=True),
     Column("rank", "int", "Rank so far, from 1.", required=True, low=1)),
)  # fmt: skip

LEAGUE_ORIGINALITY = Table(
    "league_originality", "One row per question and nearest neighbour found.",
    (*_KEY, "league_question_id", "compared_with"), "a league round", "league",
    (_LEAGUE, _RUN, _ROUND, _QUESTION,
     Column("compared_with", "text", "Benchmark, or the league's own memory.", required=True),
     Column("ngram_overlap", "float", "Share of 5-grams found there.", low=0, high=1),
     Column("similarity", "float", "Cosine of the nearest neighbour.", low=-1.0001, high=1.0001)),
)  # fmt: skip
