"""What a league came to.

This is scores of leagues that were made elsewhere, and the statistics of all leagues.

Everything here but the two imported tables is computed by `proctor league report`, and computed again replaces it.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.columns import IS_SIMULATED, MODEL
from schemas.league import LEAGUE_ROUNDS
from schemas.table import Column, Table

_KEY = ("league_id", "domain", "run_type")
_PLACE = tuple(column for column in LEAGUE_ROUNDS.own_columns if column.name in _KEY)
_UNIT = "a league's domain and type of run"
_FAMILY = Column("family", "text", "Its series, else its organisation; null where neither is known.")
_IS_IMPORTED = Column.flag("is_imported", "Whether the scores were imported, not given here.")
_SEED = Column.count("seed", "Where the draws start: the same seed gives the same rows.")
_RESAMPLES = Column.number("resample_count", "Resamples behind each interval.")
_MARKS = (_IS_IMPORTED, IS_SIMULATED)
_SOURCE = Column.text("source", "Name of the file, and of its sheet.")
_CORRELATION = replace(
    Column("correlation", "float", "-1 to 1; null for fewer than three candidates, or where all are alike."),
    low=-1,
    high=1,
)


def _share(name: str, about: str) -> Column:
    return Column(name, "float", about, low=0, high=1.0001)


IMPORTED_LEAGUE_SCORES = Table(
    "imported_league_scores", "One row per score of a league that was made elsewhere, as its file gives it.",
    ("league_id", "source", "place"), "an imported file", "import",
    (*_PLACE,
     _SOURCE,
     Column.number("place", "Which score of the file it is, from 1."),
     Column("league_run", "int", "Independent run, from 1; null where the file does not say.", low=1),
     Column("round", "int", "Round, from 1; null where the file does not say.", low=1),
     Column("asker", "text", "Who set the question; null where the file does not say."),
     Column("judge", "text", "Who judged; null where the score is a mean over judges."),
     Column.text("answerer", "Whose answer."),
     Column("rank", "int", "Rank given, from 1; null where the file has none.", low=1),
     Column("score", "float", "Borda points, or 0 to 100; null means that the judge's output could not be read."),
     Column("most_points", "float", "Highest score that could be had.", required=True, low=0)),
)  # fmt: skip

IMPORTED_LEAGUE_OVERLAPS = Table(
    "imported_league_overlaps", "One row per run and k: a top-k overlap that a file gives, without the lists behind it.",
    ("league_id", "source", "run_name", "k"), "an imported file", "import",
    (*_PLACE,
     _SOURCE,
     Column.text("run_name", "The run, as the file names it."),
     Column.number("k", "How many candidates the top holds."),
     replace(_share("overlap", "Mean share of the top k that two judges have in common."), required=True)),
)  # fmt: skip

LEAGUE_SCORES = Table(
    "league_scores", "One row per candidate of a league's domain and type of run.", (*_KEY, "model"), _UNIT, "league",
    (*_PLACE,
     MODEL,
     _FAMILY,
     Column("rank", "int", "Rank by score, from 1; null without a score.", low=1),
     Column("score", "float", "Mean of all scores that its answers got; null without any."),
     Column("score_low", "float", "Lower end of its 95% bootstrap interval over single scores, as if they were independent."),
     Column("score_high", "float", "Upper end of the same."),
     Column("answer_low", "float", "Lower end of its 95% bootstrap interval over answers: scores of one answer are not independent."),
     Column("answer_high", "float", "Upper end of the same."),
     Column.count("score_count", "Scores of its answers."),
     Column.count("answer_count", "Answers that were scored."),
     Column.count("void_count", "Scores that were asked for and could not be read; they are in no mean."),
     Column("run_count", "int", "Independent runs; null where the file does not say.", low=1),
     Column("run_sd", "float", "Standard deviation of its score over independent runs (n - 1); null for one run.", low=0),
     Column("run_sd_100", "float", "The same on a scale of 100 points.", low=0),
     Column("setting_score", "float", "Mean of what others got on its questions: lower is harder; null for Borda points, which are the same for every question, and where nobody knows who asked."),
     Column("setting_low", "float", "Lower end of its 95% bootstrap interval over questions; null for one question."),
     Column("setting_high", "float", "Upper end of the same."),
     Column.count("question_count", "Questions that it set and others were scored on."),
     Column("most_points", "float", "Highest score that could be had.", required=True, low=0),
     _RESAMPLES,
     _SEED,
     *_MARKS),
)  # fmt: skip

LEAGUE_ANOVA = Table(
    "league_anova", "One row per unit: do the candidates differ at all (one-way analysis of variance)?",
    (*_KEY, "unit"), _UNIT, "league",
    (*_PLACE,
     Column.text("unit", "One observation: a single `score`, or the mean of an `answer` over its judges.", ("score", "answer")),
     Column("f", "float", "Between-group over within-group mean square.", required=True, low=0),
     Column.number("between_degrees", "Its degrees of freedom between candidates."),
     Column.number("within_degrees", "Its degrees of freedom within candidates."),
     Column("within_square", "float", "Within-group mean square.", required=True, low=0),
     replace(_share("p_value", "Of candidates that are all alike."), required=True),
     *_MARKS),
)  # fmt: skip

LEAGUE_PAIRS = Table(
    "league_pairs", "One row per pair of candidates and unit: Tukey's HSD.", (*_KEY, "unit", "model_a", "model_b"), _UNIT, "league",
    (*_PLACE,
     Column.text("unit", "One observation, as in league_anova.", ("score", "answer")),
     Column.text("model_a", "The first by name."),
     Column.text("model_b", "The second by name."),
     Column("difference", "float", "Score of the first minus that of the second.", required=True),
     Column("difference_low", "float", "Lower end of its simultaneous 95% interval.", required=True),
     Column("difference_high", "float", "Upper end of the same.", required=True),
     replace(_share("p_value", "Of two that are alike, adjusted for all pairs."), required=True),
     Column.flag("is_distinguishable", "Whether p is below 0.05."),
     *_MARKS),
)  # fmt: skip

LEAGUE_FAMILY_BIAS = Table(
    "league_family_bias", "One row per family of two or more judges and unit: Welch's test of in-family against out-of-family scores.",
    (*_KEY, "family", "unit"), _UNIT, "league",
    (*_PLACE,
     replace(_FAMILY, about="The judges' family.", required=True),
     Column.text("unit", "One observation: a single `score`, the mean of a `cell` (judge and answerer), the mean of a cell's `excess` over what "
            "judges outside both families gave the same answers, or the same of each answer (`answer_excess`): only an excess "
            "tells favour from better answers.", ("score", "cell", "excess", "answer_excess")),
     Column("in_mean", "float", "Mean given to the own family."),
     Column("out_mean", "float", "Mean given to others."),
     Column("difference", "float", "In-family minus out-of-family."),
     Column("difference_low", "float", "Lower end of its 95% interval; null for fewer than two observations on a side."),
     Column("difference_high", "float", "Upper end of the same."),
     Column("t", "float", "Welch's t."),
     Column("degrees", "float", "Its degrees of freedom.", low=0),
     _share("p_value", "Two-sided, of no difference; for this family alone."),
     Column.count("in_count", "Observations in the family."),
     Column.count("out_count", "Observations outside."),
     *_MARKS),
)  # fmt: skip

LEAGUE_CONSISTENCY = Table(
    "league_consistency", "One row per k: how far the top k of two judges overlap.", (*_KEY, "k"), _UNIT, "league",
    (*_PLACE,
     Column.number("k", "How many candidates the top holds."),
     replace(_share("overlap", "Mean share of the top k that two judges of a question have in common."), required=True),
     _share("overlap_low", "Lower end of its 95% bootstrap interval over rounds; null for one round."),
     _share("overlap_high", "Upper end of the same."),
     _share("run_low", "Lower end of its 95% bootstrap interval over independent runs; null for one run."),
     _share("run_high", "Upper end of the same."),
     _share("chance", "What judges overlap that put their lists in random order; null where the file has no lists."),
     Column("above_chance", "float", "(overlap - chance) / (1 - chance); null where chance is 1 or not known.", high=1.0001),
     Column("round_count", "int", "Rounds behind it; null where the file does not say.", low=1),
     Column("run_count", "int", "Independent runs behind it.", low=1),
     _RESAMPLES,
     _SEED,
     *_MARKS),
)  # fmt: skip

LEAGUE_CORRELATIONS = Table(
    "league_correlations", "One row per ranking that the league's is compared with, and method.", (*_KEY, "compared_with", "method"),
    _UNIT, "league",
    (*_PLACE,
     Column.text("compared_with", "`setting`: what others got on the own questions, where lower is harder; `exam`: the standing in the exam.", ("setting", "exam")),
     Column.text("method", "Rank or linear correlation.", ("spearman", "pearson")),
     _CORRELATION,
     replace(_CORRELATION, name="correlation_low", about="Lower end of its 95% interval; null for fewer than four candidates."),
     replace(_CORRELATION, name="correlation_high", about="Upper end of the same."),
     _share("p_value", "Two-sided, of none."),
     Column.count("candidate_count", "Candidates in both."),
     *_MARKS),
)  # fmt: skip

LEAGUE_REPLAYS = Table(
    "league_replays", "One row per method and share: the order that only this share of the comparisons gives.",
    (*_KEY, "method", "share"), _UNIT, "league",
    (*_PLACE,
     Column.text("method", "How the candidates are rated; Elo only for samples of up to 20,000 out of up to a million comparisons.", ("bradley_terry", "elo")),
     replace(_share("share", "Share of all comparisons that is drawn."), required=True),
     Column.number("game_count", "Comparisons in a sample."),
     Column.number("repeat_count", "Samples."),
     Column("spearman", "float", "Mean rank correlation of a sample's order with that by score.", required=True, low=-1, high=1.0001),
     Column("spearman_sd", "float", "Its standard deviation over the samples.", required=True, low=0),
     Column("spearman_low", "float", "2.5% of the samples lie below.", required=True, low=-1, high=1.0001),
     Column("spearman_high", "float", "2.5% of the samples lie above.", required=True, low=-1, high=1.0001),
     replace(_share("same_order_rate", "Share of the samples with exactly the order by score."), required=True),
     Column.count("candidate_count", "Candidates that are rated."),
     _SEED,
     *_MARKS),
)  # fmt: skip

STATISTICS = (
    LEAGUE_SCORES,
    LEAGUE_ANOVA,
    LEAGUE_PAIRS,
    LEAGUE_FAMILY_BIAS,
    LEAGUE_CONSISTENCY,
    LEAGUE_CORRELATIONS,
    LEAGUE_REPLAYS,
)
