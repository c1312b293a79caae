"""Editions: what was published, frozen; a correction is a new revision."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

# The row over all disciplines together, where a table has one row for each of them and one for the whole.
ALL_DISCIPLINES = "all"

# Ways of counting questions with pictures.
TEXT_ONLY, PICTURES, ALT_TEXT = "text_only", "pictures", "alt_text"

EDITION_ID = Column.text("edition_id", "The edition: run and revision, as in 2026-12/1.")
DISCIPLINE_OR_ALL = Column.text(
    "discipline",
    "The discipline; `all` for all of them in their fixed weights.",
    (*DISCIPLINES, ALL_DISCIPLINES),
)


PASSAGE = Column(
    "passage", "text", "The text that it asks about: the same for questions that share one; null for none."
)


def _score(name: str, about: str, *, high: float | None = 100) -> Column:
    return Column(name, "float", about, low=0, high=high)


EDITIONS = Table(
    name="editions",
    grain="One row per edition: one publication of one run.",
    key=("edition_id",),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    own_columns=(
        EDITION_ID,
        columns.RUN_ID,
        columns.MONTH,
        Column.number("revision", "1 for the first publication; a correction has the next number."),
        Column("replaces", "text", "The edition that this one corrects; null for the first."),
        Column("reason", "text", "Why it was corrected; null for the first."),
        Column.flag(
            "is_repetition", "Whether it is a further run of its month; it stands beside the month's own."
        ),
        Column.moment("planned_at", "When the run was planned."),
        Column.moment("published_at", "When the edition was published."),
        columns.BANK_VERSION,
        Column.number("set_size", "Lineages in a set."),
        Column.text("reference_model", "The reference candidate (the SOTA of R)."),
        replace(columns.JUDGE, about="The judge whose stars count first."),
        Column.text("judge_prompt_version", "Version of the judge's prompt, without its language."),
        Column(
            "next_judges", "texts", "Who counts, in this order, where the judge's output could not be read."
        ),
        Column(
            "mean_kappa",
            "float",
            "The judge's agreement with people that the edition rests on; null before any calibration.",
            low=-1,
            high=1,
        ),
        Column(
            "mean_kappa_low",
            "float",
            "Lower end of the 95% interval of mean_kappa; null before any calibration, and in editions of an earlier version.",
            high=1,
        ),
        Column("rated_count", "int", "Rated responses behind it.", low=0),
        Column.flag(
            "is_provisional",
            "Whether the order may change, as the judge is not known well enough, whatever gate was overridden.",
        ),
        Column(
            "provisional_because",
            "texts",
            "Why: `uncalibrated`; `agreement`: the lower end of its kappa is below the bar; `ratings`: they are too few. Null where "
            "it is not, and in editions of an earlier version, where it means uncalibrated.",
        ),
        Column(
            "control_count",
            "int",
            "Control answers that the judge was asked for; null where none was, and in editions of an earlier version.",
            low=0,
        ),
        Column(
            "control_wrong_count",
            "int",
            "Of these, those that it judged wrong: reference answers below 2 stars, others with 3, and replies that could not be read.",
            low=0,
        ),
        Column(
            "control_gap",
            "float",
            "Mean stars of the reference answers among them less the highest mean of another kind; null where one is missing.",
            low=-3,
            high=3,
        ),
        Column(
            "key_count",
            "int",
            "Answers decided by a key that the judge gave stars; null in editions of an earlier version.",
            low=0,
        ),
        Column(
            "key_disagreement_count",
            "int",
            "Of these, those on which it says something else than the key.",
            low=0,
        ),
        Column("exam_prompt_versions", "texts", "Versions of the prompts that the candidates got."),
        Column(
            "picture_scope",
            "text",
            "What S, R, ranks and pairs rest on where questions with pictures were asked: `pictures`: on all questions, as every candidate saw "
            "them; `text_only`: on questions without pictures, as one did not. Null where none was asked.",
            allowed=(PICTURES, TEXT_ONLY),
        ),
        Column("disciplines", "texts", "The disciplines of S.", required=True),
        Column.text("weights", "Their fixed weights in S, as a JSON object."),
        Column.count("candidate_count", "Candidates with a score under any prompt style."),
        Column.count(
            "unparsed_count", "Answers that no judge and no person could be got to judge; they earn nothing."
        ),
        Column("overridden_gates", "texts", "Gates that were shut and overridden."),
        Column("override_reason", "text", "Why they were overridden."),
        Column(
            "interval_method",
            "text",
            "How its intervals and comparisons were made: `score, max-t`; null for Student's t and Holm, as they were before.",
        ),
        Column.text("code_version", "Version of Proctor that computed it."),
        Column.text("basis_hash", "SHA-256 over the content of every landing that it rests on."),
        Column.text("root_hash", "SHA-256 over the basis and every other frozen row of the edition."),
        columns.IS_SIMULATED,
    ),
)

# How an edition is attested, the weakest first, and how many witnesses it takes (docs/verify.md, "Grades").
LEAST_WITNESSES = 2
GRADES = ("self-attested", "witnessed", "witnessed + beacon")

EDITION_GRADES = Table(
    name="edition_grades",
    grain="One row per edition that more attest than its operator; an edition without one is self-attested.",
    key=("edition_id",),
    unit="an edition",
    stage="publish",
    own_columns=(
        EDITION_ID,
        Column.text(
            "grade",
            "How it is attested, as its operator states it by the heads that witnesses were given; `proctor exam verify --head` finds it.",
            GRADES,
        ),
        Column.count("witness_count", "Witnesses that were given a head that covers it."),
        Column(
            "beacon",
            "text",
            "The round of drand that its run was drawn with; null for none, and for a typed value.",
        ),
    ),
)

EDITION_SESSIONS = Table(
    name="edition_sessions",
    grain="One row per edition and session that it counts.",
    key=("edition_id", "session_id"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.RUN_ID,
        columns.MONTH,
        columns.SESSION_ID,
        Column.text("sat_in_run_id", "The run in which it was sat."),
        columns.SET_ID,
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        columns.REPEAT,
        Column.flag("is_reference", "Whether it is the reference candidate's."),
        Column.flag("is_borrowed", "Whether it was sat in another run: the reference answers a set once."),
        Column.flag(
            "is_complete", "Whether it was closed and wholly judged; no other session enters a score."
        ),
        Column.count("question_count", "Questions allocated (N of S)."),
        Column.count("scored_count", "Questions with stars, the unanswered ones included, which have 0."),
        Column.count("unanswered_count", "Questions without an answer: 0 stars."),
        Column.count("unparsed_count", "Answers whose judgement could not be read by anybody."),
        Column.count("unjudged_count", "Answers that nobody has judged."),
        Column.count("star_count", "Stars."),
        _score("score", "S of this session alone, 0 to 100; null unless it is complete."),
        Column.count("pair_count", "Questions that it was judged on and the reference has stars for."),
        Column("pair_stars", "float", "Its stars on those, each discipline by its weight in S.", low=0),
        Column("reference_pair_stars", "float", "The reference's stars on those, likewise.", low=0),
        columns.IS_SIMULATED,
    ),
)

EDITION_STARS = Table(
    name="edition_stars",
    grain="One row per edition, candidate, prompt style and question: its stars over the repeats.",
    key=("edition_id", "model", "prompt_style", "question_uuid"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        Column.text("sat_in_run_id", "The run in which it was answered."),
        columns.SET_ID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        columns.QUESTION_UUID,
        columns.LINEAGE_UUID,
        PASSAGE,
        columns.STRATUM,
        *(
            Column.count(f"stars_{stars}_count", f"Repeats that got {stars} star{'' if stars == 1 else 's'}.")
            for stars in range(4)
        ),
        Column.count("unparsed_count", "Repeats whose judgement could not be read; they earn nothing."),
        columns.IS_SIMULATED,
    ),
)

EDITION_SCORES = Table(
    name="edition_scores",
    grain="One row per edition, candidate, prompt style and discipline, and one over all disciplines.",
    key=("edition_id", "model", "prompt_style", "discipline"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.RUN_ID,
        columns.MONTH,
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        DISCIPLINE_OR_ALL,
        Column.flag("is_reference", "Whether it is the reference candidate."),
        Column.count("repeat_count", "Repeats."),
        Column.count("question_count", "Questions allocated over the repeats (N)."),
        Column.count("item_count", "Different questions: what the standard error rests on."),
        Column.count("scored_count", "Questions with stars, the unanswered ones included."),
        Column.count("unanswered_count", "Questions without an answer: 0 stars."),
        Column.count("unparsed_count", "Answers whose judgement could not be read; they earn nothing."),
        _score(
            "score", "S: 0 to 100, mean of the repeats; null where a discipline that has weight is missing."
        ),
        _score("score_se", "Standard error of S from the drawing of the questions."),
        _score("score_low", "Lower end of the 95% interval of S."),
        _score("score_high", "Upper end of it."),
        _score(
            "score_sd",
            "Standard deviation of S over the repeats of a set: the candidate's own randomness, not the error of S.",
        ),
        _score("lowest_score", "Lowest S of a repeat."),
        _score("highest_score", "Highest S of a repeat."),
        _score("relative_score", "R: stars over the reference's on the same questions, x 100.", high=None),
        _score("relative_se", "Standard error of R.", high=None),
        _score("relative_low", "Lower end of the 95% interval of R.", high=None),
        _score("relative_high", "Upper end of it.", high=None),
        Column.count("pair_count", "Questions that R rests on, repeats counted."),
        Column(
            "rank", "int", "Place by S within edition, style and is_simulated; equal scores share it.", low=1
        ),
        Column(
            "rank_low", "int", "Best place that the data do not rule out (all pairs together, 5%).", low=1
        ),
        Column("rank_high", "int", "Worst place that they do not rule out.", low=1),
        Column(
            "rank_group",
            "text",
            "A letter, A for the best: whoever stands in a lower group is distinguishable from the best of every higher one.",
        ),
        _score(
            "chance_score",
            "Chance level of the questions that it sat: S of the best answer that is always the same, two stars for a right one; null "
            "where a key is not known.",
        ),
        Column(
            "chance_answers",
            "text",
            "That answer: `true` or `false`, and a label or `longest` among options.",
        ),
        Column(
            "corrected_score",
            "float",
            "S corrected for chance: its share of what lies above the chance level; below 0 for less than chance gives.",
            low=-200,
            high=100,
        ),
        _score(
            "equated_score",
            "Expected S on the questions of the scale's first edition, by the graded response model.",
        ),
        _score("equated_se", "Its standard error."),
        _score("equated_low", "Lower end of its 95% interval."),
        _score("equated_high", "Upper end of it."),
        Column("is_equated_apart", "bool", "Whether it and S disagree by more than their errors allow."),
        Column("previous_edition_id", "text", "The candidate's last edition before this month."),
        Column("previous_month", "text", "Its month."),
        Column("score_change", "float", "S less S of then.", low=-100, high=100),
        Column(
            "score_change_low", "float", "Lower end of the 95% interval of the change.", low=-200, high=200
        ),
        Column("score_change_high", "float", "Upper end of it.", low=-200, high=200),
        columns.IS_SIMULATED,
    ),
)

EDITION_SERIES = Table(
    name="edition_series",
    grain="One row per edition with questions that have pictures, candidate, prompt style, way of counting them and discipline, and one over all.",
    key=("edition_id", "model", "prompt_style", "series", "discipline"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.RUN_ID,
        columns.MONTH,
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        Column.text(
            "series",
            "What is counted: `text_only`: questions without pictures, of every candidate; `pictures`: all questions, of a candidate that saw "
            "the pictures; `alt_text`: all questions, of one that was told in words what they show. One that did both has the first alone.",
            (TEXT_ONLY, PICTURES, ALT_TEXT),
        ),
        DISCIPLINE_OR_ALL,
        Column.count("question_count", "Questions counted over the repeats."),
        Column.count("picture_count", "Of these, those with pictures."),
        _score("score", "S of these questions; null where a discipline that has weight is missing."),
        _score("score_se", "Standard error of S from the drawing of the questions."),
        _score("score_low", "Lower end of the 95% interval of S."),
        _score("score_high", "Upper end of it."),
        _score(
            "relative_score",
            "R of these questions; null where the reference is not in the series.",
            high=None,
        ),
        _score("relative_low", "Lower end of the 95% interval of R.", high=None),
        _score("relative_high", "Upper end of it.", high=None),
        Column("rank", "int", "Place by S within edition, style and series.", low=1),
        Column("rank_low", "int", "Best place that the data do not rule out.", low=1),
        Column("rank_high", "int", "Worst place that they do not rule out.", low=1),
        Column.count("pair_count", "Questions that R rests on, repeats counted."),
        columns.IS_SIMULATED,
    ),
)

EDITION_PAIRS = Table(
    name="edition_pairs",
    grain="One row per edition, prompt style and pair of candidates over all disciplines, and one per discipline that both sat.",
    key=("edition_id", "prompt_style", "discipline", "model_a", "model_b"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        columns.PROMPT_STYLE,
        DISCIPLINE_OR_ALL,
        Column.text("model_a", "First candidate."),
        Column.text("model_b", "Second candidate."),
        Column.count("pair_count", "Questions that both have stars for."),
        Column.flag(
            "is_paired",
            "Whether they are at least half of the smaller sitting's questions, in every discipline.",
        ),
        Column(
            "difference",
            "float",
            "S of the first less S of the second; in a discipline its score from 0 to 100.",
            low=-100,
            high=100,
        ),
        _score("difference_se", "Its standard error."),
        Column("difference_low", "float", "Lower end of its 95% interval.", low=-200, high=200),
        Column("difference_high", "float", "Upper end of it.", low=-200, high=200),
        _score("p_value", "Two-sided p of no difference.", high=1),
        _score(
            "p_holm",
            "The same, corrected over all pairs of the edition and style (Holm); null since p_together is there.",
            high=1,
        ),
        _score(
            "p_together",
            "The same, corrected by the largest difference that chance makes (step-down max-t) over all pairs of the edition and style, in a discipline over the pair's disciplines; null in editions from before it was.",
            high=1,
        ),
        Column(
            "together_low",
            "float",
            "Lower end of an interval that holds in 95% of editions for all that was corrected over at once; it holds 0 exactly where the two are not told apart (an end of 0 is not in it).",
            low=-100,
            high=100,
        ),
        Column("together_high", "float", "Upper end of it.", low=-100, high=100),
        Column(
            "is_distinguishable", "bool", "Whether p_together, or p_holm where there is none, is at most 5%."
        ),
        Column.count("win_a_count", "Common questions on which the first has more stars, repeats averaged."),
        Column.count("win_b_count", "Common questions on which the second has more."),
        Column.count("tie_count", "Common questions on which they have equally many."),
        Column(
            "stars_a",
            "float",
            "Stars of the first on the common questions, repeats averaged.",
            required=True,
            low=0,
        ),
        Column("stars_b", "float", "Stars of the second on them.", required=True, low=0),
        columns.IS_SIMULATED,
    ),
)

IMPROVEMENTS = Table(
    name="improvements",
    grain="One row per starting month, prompt style and candidate with two editions: how its S has moved since.",
    key=("since_month", "prompt_style", "model", "is_simulated"),
    unit="a starting month",
    stage="publish",
    own_columns=(
        Column.text("since_month", "Editions from this month on are looked at."),
        Column.text("through_month", "The last month that was published then."),
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        Column.text("from_edition_id", "The candidate's first edition of the stretch."),
        Column.text("from_month", "Its month."),
        _score("from_score", "S of it."),
        Column.text("to_edition_id", "The candidate's last edition of the stretch."),
        Column.text("to_month", "Its month."),
        _score("to_score", "S of it."),
        Column("change", "float", "S of the last less S of the first.", low=-100, high=100),
        Column("change_low", "float", "Lower end of its 95% interval.", low=-200, high=200),
        Column("change_high", "float", "Upper end of it.", low=-200, high=200),
        _score("p_value", "Two-sided p of no change.", high=1),
        _score(
            "p_together",
            "The same, corrected over all candidates of the style by the largest change that chance makes (step-down max-t).",
            high=1,
        ),
        Column(
            "together_low",
            "float",
            "Lower end of an interval that holds for all of them at once in 95% of cases; it holds 0 exactly where the change is no more than noise (an end of 0 is not in it).",
            low=-100,
            high=100,
        ),
        Column("together_high", "float", "Upper end of it.", low=-100, high=100),
        Column(
            "equated_change",
            "float",
            "Equated score of the last edition less that of the first; null where either is not equated.",
        ),
        Column.count("month_count", "Months of the stretch in which it was published."),
        columns.IS_SIMULATED,
    ),
)

EDITION_ITEMS = Table(
    name="edition_items",
    grain="One row per edition and question that its graded response model estimated: what was new, or had moved, or all of them.",
    key=("edition_id", "question_uuid"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    partition_by="month",
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        columns.QUESTION_UUID,
        columns.LINEAGE_UUID,
        columns.STRATUM,
        Column.text("first_month", "Month in which it was first asked."),
        Column.count("answer_count", "Answers behind it."),
        Column("discrimination", "float", "How sharply it separates: a of the model.", required=True),
        Column("discrimination_se", "float", "Its standard error."),
        Column("difficulty", "float", "How hard it is, in logits: b of the model.", required=True),
        Column("difficulty_se", "float", "Its standard error."),
        Column(
            "error_correlation",
            "float",
            "How the errors of difficulty and log discrimination go together; null before it was published.",
            low=-1,
            high=1,
        ),
        Column("fit", "float", "Mean square of the standardised residuals, weighted (infit); 1 is expected."),
        Column.flag("is_misfit", "Whether the fit is so bad that the question should be looked at."),
        Column(
            "format",
            "text",
            "What there is to guess among: `choice-4` with one key of four, `choices-4` with several, `true_false`, `open`, `unknown`; "
            "null before guessing was part of the model.",
        ),
        Column(
            "passage", "text", "What questions about the same material have in common; null for one without."
        ),
        Column(
            "is_on_form",
            "bool",
            "Whether scores of the scale are expected on it: it was put in the scale's first edition.",
        ),
        Column(
            "is_moved",
            "bool",
            "Whether it was published before, but its answers no longer agree with that, so that it links no more.",
        ),
        columns.IS_SIMULATED,
    ),
)


EDITION_FITS = Table(
    name="edition_fits",
    grain="One row per edition and discipline: its graded response model, linked to the scale by what was published before.",
    key=("edition_id", "discipline"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        columns.STRATUM,
        Column.count("entry_count", "Sittings of candidates in the fit."),
        Column.count("question_count", "Questions in it."),
        Column.count("answer_count", "Answers in it, repeats of one counted once."),
        *(
            Column(
                f"threshold_{stars}",
                "float",
                f"Place of star {stars} beside a question's difficulty, logits.",
            )
            for stars in range(1, 4)
        ),
        Column("ability_sd", "float", "Standard deviation of abilities about their edition.", low=0),
        Column("difficulty_sd", "float", "Standard deviation of difficulties about their season.", low=0),
        Column("discrimination_mean", "float", "Mean of log discrimination."),
        Column("discrimination_sd", "float", "Its standard deviation.", low=0),
        Column.count("round_count", "Rounds of the fit."),
        Column.flag("is_converged", "Whether the fit came to one result; else nothing is equated."),
        Column(
            "method",
            "text",
            "How it was fitted: `em` over all editions by maximum likelihood, `chain` by draws of all that is open; null is `em`.",
            allowed=("em", "chain"),
        ),
        Column("scale_edition_id", "text", "The edition that set its scale; null where it is on none."),
        Column(
            "asymptotes",
            "text",
            "By format, how often chance alone earns one star, two and three, as a JSON object.",
        ),
        Column("passage_sd", "float", "How far abilities differ from passage to passage, logits.", low=0),
        Column("anchor_count", "int", "Questions published before that link it.", low=0),
        Column(
            "moved_count", "int", "Questions published before that no longer link, since they moved.", low=0
        ),
        Column(
            "link_covariances",
            "text",
            "What the error of its link shares with each earlier edition of the scale, and its own variance, as a JSON object.",
        ),
        Column(
            "withheld",
            "text",
            "Why nothing of the edition is equated: `anchors`: too few answers to questions that were published before; `questions`, "
            "`answers`: a discipline has too few of them; `draws`: the fit came to no one result; `errors`, by the earlier method: they "
            "were wider than the scale. Null where it is.",
            allowed=("anchors", "questions", "answers", "draws", "errors"),
        ),
        columns.IS_SIMULATED,
    ),
)

EDITION_STANDINGS = Table(
    name="edition_standings",
    grain="One row per edition and candidate that was ever published: where it stands as of the edition.",
    key=("edition_id", "model"),
    unit="an edition",
    stage="publish",
    is_frozen=True,
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        columns.MODEL,
        columns.ORGANISATION,
        Column.text("sat_edition_id", "The candidate's latest edition."),
        Column.text("sat_month", "Its month."),
        Column.text("reference_model", "The reference of that edition."),
        _score("score", "S of that edition."),
        _score("score_low", "Lower end of its 95% interval."),
        _score("score_high", "Upper end of it."),
        _score("relative_score", "R of that edition.", high=None),
        _score(
            "standing_score",
            "What it is ranked by: the equated score by this edition's fit; S where there is none.",
        ),
        _score("standing_low", "Lower end of its 95% interval."),
        _score("standing_high", "Upper end of it."),
        Column("rank", "int", "Place by standing_score among all.", low=1),
        Column.text(
            "comparability",
            "How it compares with this edition: sat in it; sat the same questions as the reference; linked by anchors; or not at all.",
            ("same_edition", "same_reference", "anchors", "none"),
        ),
        columns.IS_SIMULATED,
    ),
)
