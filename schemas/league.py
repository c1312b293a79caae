"""The league: models examine each other."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.table import Column, Table
from schemas.vocabulary import LEAGUE_EXECUTIONS, LEAGUE_RUN_TYPES

_LEAGUE = Column.text("league_id", "The league.")
_DOMAIN = Column.text("domain", "Domain whose rules apply.")
_RUN = Column.number("league_run", "Independent run, from 1.")
_ROUND = Column.number("round", "Round, from 1: the turn of one asker in a domain and run.")
_RUN_TYPE = Column.text(
    "run_type",
    "`full`, or `without_reference`: the same questions and answers, judged again without the reference answer.",
    LEAGUE_RUN_TYPES,
)
_QUESTION = Column.text("league_question_id", "The question.")
_OCCASION = replace(
    columns.OCCASION, about="Why it was asked: `round` in its turn, `recheck` when it was asked again."
)
_CALLS = Column(
    "call_count", "int", "Calls that were made for it: more than one where replies could not be read.", low=0
)
# What every reply in a league carries, so that it can be read again.
_REPLY = (columns.RAW, columns.PARSE_STATUS, columns.PROMPT_VERSION, _OCCASION)
# A round is played once; it may be judged in several ways, which are types of run.
_PLAYED = ("league_id", "domain", "league_run", "round")
_JUDGED = ("league_id", "domain", "run_type", "league_run", "round")
_PLACE = (_LEAGUE, _DOMAIN, _RUN, _ROUND)
_JUDGED_PLACE = (_LEAGUE, _DOMAIN, _RUN_TYPE, _RUN, _ROUND)
# Rounds of one number, of all domains and runs, are played at once and land together.
_UNIT = "a league's rounds of one number"
_PERSON = Column.text("person", "Who decided.")
_DECIDED_AT = Column.moment("decided_at", "When the decision was read in.")

LEAGUES = Table(
    "leagues", "One row per league, as it was claimed; it never changes.", ("league_id",), "a league", "league",
    (_LEAGUE,
     Column.text("origin", "Whether it was played here, or its scores were imported.", ("played", "imported")),
     Column("domains", "texts", "Its domains.", required=True),
     Column("domain_hashes", "texts", "Hash of each domain's rules and prompts, in the same order; null for imported scores."),
     Column("run_count", "int", "Independent runs; null where an imported file does not say.", low=1),
     Column("round_count", "int", "Rounds of a run in each domain; null where it is not known.", low=1),
     Column("temperature", "float", "Temperature of all calls; null where it is not known.", low=0),
     Column("season", "text", "Season whose topics are set; null for none."),
     Column("validator_count", "int", "People who judge each question; 0 for none.", low=0),
     Column("seed_hash", "text", "SHA-256 of the key that labels and orders were drawn with; null for imported scores."),
     Column("settings", "text", "The other settings, as JSON."),
     columns.IS_SIMULATED,
     Column.moment("created_at", "When it was claimed.")),
)  # fmt: skip

LEAGUE_CANDIDATES = Table(
    "league_candidates", "One row per candidate of a league.", ("league_id", "model"), "a league, or an entrant", "league",
    (_LEAGUE,
     columns.MODEL,
     replace(columns.ORGANISATION, about="Who owns it; null where it is not known.", required=False),
     Column("family", "text", "Its series, else its organisation; null where neither is known."),
     Column.text("joined", "`member` from the beginning, or `entrant` by matches.", ("member", "entrant")),
     columns.IS_SIMULATED),
)  # fmt: skip

LEAGUE_ROUNDS = Table(
    "league_rounds", "One row per round and type of run; a round that is not here is not finished.", _JUDGED,
    _UNIT, "league",
    (*_JUDGED_PLACE,
     Column.text("asker", "Candidate whose turn it was."),
     Column("answer_count", "int", "Answers that could be judged.", low=0),
     Column("evaluation_count", "int", "Evaluations with a score.", low=0),
     Column("void_count", "int", "Evaluations that were asked for and have no score.", low=0),
     Column("finished_at", "timestamp", "When its last evaluation was in.")),
)  # fmt: skip

LEAGUE_QUESTIONS = Table(
    "league_questions", "One row per question set by an asker.", (*_PLAYED, "league_question_id"), _UNIT, "league",
    (*_PLACE, _QUESTION,
     Column.text("asker", "Who set it."),
     Column("topic", "text", "Topic that was given for the season; null for none."),
     Column("stem", "text", "The question; null when none could be read."),
     Column("reference_answer", "text", "The asker's reference answer; null when none could be read."),
     Column("final_answer", "text", "The reference answer's result alone; null where there is none."),
     Column("principle", "text", "Principle it isolates (mathematics)."),
     Column("scoring_standard", "text", "Standard of 100 points (programming)."),
     Column("details", "text", "What else the domain asks of a question, as JSON."),
     Column("draft_count", "int", "Drafts that the asker wrote, this one included.", low=0),
     Column("self_consistency", "float",
            "Share of the asker's own later solutions with the reference's result; null when not asked.", low=0, high=1),
     Column("execution", "text", "Result of running the reference solution; null when it was not run.",
            allowed=LEAGUE_EXECUTIONS),
     columns.INPUT_TOKENS,
     columns.OUTPUT_TOKENS,
     columns.COST_USD,
     _CALLS,
     *_REPLY),
)  # fmt: skip

LEAGUE_ANSWERS = Table(
    "league_answers", "One row per answer.", (*_PLAYED, "league_question_id", "answerer"), _UNIT, "league",
    (*_PLACE, _QUESTION,
     Column.text("answerer", "Who answered."),
     Column("response", "text", "The answer; null when none could be read."),
     Column("final_answer", "text", "Its result alone; null where there is none."),
     Column("execution", "text", "Result of running it; null when it was not run.", allowed=LEAGUE_EXECUTIONS),
     columns.INPUT_TOKENS,
     columns.OUTPUT_TOKENS,
     columns.COST_USD,
     _CALLS,
     *_REPLY),
)  # fmt: skip

LEAGUE_EVALUATIONS = Table(
    "league_evaluations", "One row per answer and judge; nobody judges itself.",
    (*_JUDGED, "league_question_id", "judge", "answerer"), _UNIT, "league",
    (*_JUDGED_PLACE, _QUESTION,
     Column.text("judge", "Who judged."),
     Column.text("answerer", "Whose answer."),
     Column("label", "text", "Letter under which the judge saw it; letters are drawn for each judge."),
     Column("rank", "int", "Rank given, from 1; null for scored domains and where it could not be read.", low=1),
     Column("score", "float", "Borda points, or 0 to 100; null means unparsed, never 0."),
     Column("reason", "text", "Reason given."),
     replace(columns.INPUT_TOKENS, about="Tokens sent, on the row of the first answer shown; a judge sees all in one call."),
     replace(columns.OUTPUT_TOKENS, about="Tokens returned, on the row of the first answer shown."),
     replace(columns.COST_USD, about="Cost, on the row of the first answer shown."),
     _CALLS,
     *_REPLY),
)  # fmt: skip

LEAGUE_RANKINGS = Table(
    "league_rankings", "One row per candidate after each round, as it was played.", (*_JUDGED, "model"), _UNIT, "league",
    (*_JUDGED_PLACE,
     Column.text("model", "The candidate."),
     Column("evaluation_count", "int", "Evaluations of its answers in this run so far.", low=0),
     Column("score", "float", "Mean score so far in this run; null before its first evaluation."),
     Column("rank", "int", "Rank so far, from 1, equal scores sharing the better one; null without a score.", low=1)),
)  # fmt: skip

LEAGUE_ORIGINALITY = Table(
    "league_originality", "One row per draft of a question and text that it was compared with.",
    (*_PLAYED, "league_question_id", "draft", "compared_with"), _UNIT, "league",
    (*_PLACE, _QUESTION,
     Column.number("draft", "Draft of the question, from 1; the last one is the question."),
     Column.text("compared_with", "Name of the benchmark file, or `memory` for the league's own memory."),
     Column("neighbour", "text", "Line of the file or id of the question that is nearest; null where nothing is near."),
     Column("ngram_overlap", "float", "Share of 5-grams found there.", low=0, high=1),
     Column("similarity", "float", "Cosine of the nearest neighbour; null without an embedding model.",
            low=-1.0001, high=1.0001),
     Column("is_too_near", "bool", "Whether it was above a threshold, so that another draft was asked for.")),
)  # fmt: skip

LEAGUE_FLAGS = Table(
    "league_flags", "One row per answer and judge who took it for a template's solution that does not hold here.",
    (*_JUDGED, "league_question_id", "judge", "answerer"), _UNIT, "league",
    (*_JUDGED_PLACE, _QUESTION,
     Column.text("judge", "Who flagged it."),
     Column.text("answerer", "Whose answer."),
     Column.text("template", "The known template that the judge cites.")),
)  # fmt: skip

LEAGUE_FLAG_DECISIONS = Table(
    "league_flag_decisions", "One row per flagged answer and person who decided.",
    ("league_id", "league_question_id", "answerer", "person"), "a person's decisions in a league", "league",
    (_LEAGUE, _QUESTION,
     Column.text("answerer", "Whose answer."),
     _PERSON,
     Column.flag("is_memorised", "Whether the person confirms it."),
     Column("reason", "text", "Reason given."),
     _DECIDED_AT),
)  # fmt: skip

LEAGUE_VALIDATIONS = Table(
    "league_validations", "One row per question and person who judged whether it may stand.",
    ("league_id", "league_question_id", "person"), "a person's decisions in a league", "league",
    (_LEAGUE, _QUESTION,
     _PERSON,
     Column.flag("is_valid", "Whether question and reference answer are right."),
     Column("reason", "text", "Reason given."),
     _DECIDED_AT),
)  # fmt: skip

LEAGUE_MATCHES = Table(
    "league_matches", "One row per match of an entrant against a candidate's answer to a question of the league.",
    ("league_id", "domain", "entrant", "match"), "a domain's matches of an entrant", "league",
    (_LEAGUE, _DOMAIN,
     Column.text("entrant", "The candidate that enters."),
     Column.number("match", "Match, from 1, in the order in which it was played."),
     Column.number("league_run", "Run whose question was put."),
     Column.number("round", "Round whose question was put."),
     _QUESTION,
     Column.text("opponent", "Whose answer it was compared with."),
     Column.text("judge", "Who compared them; neither of the two."),
     Column("label", "text", "Letter under which the judge saw the entrant's answer; null when there was none to see."),
     Column("result", "float", "1 won, 0.5 equal, 0 lost; null means unparsed, never lost.", low=0, high=1),
     Column("response", "text", "The entrant's answer; null when none could be read."),
     Column("rating", "float", "The entrant's rating after this match, on the Elo scale; the candidates' mean is 1000."),
     Column("rating_low", "float", "Lower end of its 95% interval."),
     Column("rating_high", "float", "Upper end of its 95% interval."),
     replace(columns.INPUT_TOKENS, about="Tokens sent to the judge."),
     replace(columns.OUTPUT_TOKENS, about="Tokens returned by the judge."),
     replace(columns.COST_USD, about="Cost of the judge."),
     Column("answer_cost_usd", "float", "Cost of the entrant's answer, on its first match with the question.", low=0),
     _CALLS,
     *_REPLY),
)  # fmt: skip
