"""Judgements by LLMs, ratings by people, calibration and error labels."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

ERROR_CLASSES = (
    "disciplinary_knowledge",
    "misunderstanding",
    "logical_reasoning",
    "factual_inaccuracy",
    "format_compliance",
)

ADDRESSES = ("order", "stars", "reply", "marker", "section", "role")

JUDGEMENTS = Table(
    name="judgements",
    grain="One row per response, judge, version of its prompt and occasion.",
    key=("session_id", "seq", "judge", "prompt_version", "occasion"),
    unit="a session, judge, version of the prompt and occasion",
    stage="judge",
    partition_by="month",
    own_columns=(
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        columns.MONTH,
        replace(
            columns.JUDGE, about="The judge's name in the registry; `person:` and the user for a person."
        ),
        Column("stars", "int", "0 to 3; null means unparsed, never 0.", low=0, high=3),
        Column("reason", "text", "Reason the judge gave."),
        columns.RAW,
        columns.PARSE_STATUS,
        replace(
            columns.PROMPT_VERSION,
            about="Version of the wording that was asked with and its language; `person` and the language for a person.",
        ),
        replace(
            columns.OCCASION,
            about="`first`, or `again-1`, `again-2` … where nobody's judgement of the response could be read before.",
        ),
        Column.moment("judged_at", "When."),
        columns.COST_USD,
        Column.count(
            "attempt",
            "Attempts until parsed or given up; 0 where an empty or refused answer got 0 stars by rule.",
        ),
        columns.IS_SIMULATED,
        Column(
            "key_verdict",
            "text",
            "What the key alone says of the answer that was extracted, for true/false and choice, and for results and fillings that "
            "compare exactly; it changes no stars. Null where there is no such key or answer, or before it was looked at.",
            allowed=("right", "wrong"),
        ),
        Column(
            "address",
            "text",
            "How the response speaks to its judge instead of answering; null where it does not. It changes no stars.",
            allowed=ADDRESSES,
        ),
    ),
)

CONTROL_KINDS = ("reference", "wrong_option", "nonsense", "other", "echo", "empty")

JUDGE_CONTROLS = Table(
    name="judge_controls",
    grain="One row per control answer of a run, judge and version of its prompt: an answer of known worth, in no score.",
    key=("run_id", "judge", "prompt_version", "question_uuid", "kind"),
    unit="a run's control answers, judge and version of the prompt",
    stage="judge",
    partition_by="month",
    own_columns=(
        columns.RUN_ID,
        columns.MONTH,
        columns.JUDGE,
        replace(
            columns.PROMPT_VERSION,
            about="Version of the wording that was asked with and its language, as for responses.",
        ),
        replace(columns.QUESTION_UUID, about="The question that it was given to, one of the run's own."),
        Column.text(
            "kind",
            "What it says: `reference`: the reference answer; `wrong_option`: an option that the key says is wrong, well explained; "
            "`nonsense`: words without meaning; `other`: the reference answer of another question; `echo`: the question; `empty`: nothing.",
            CONTROL_KINDS,
        ),
        Column(
            "other_question_uuid", "text", "The question that it answers, for the kind `other`; else null."
        ),
        Column.text(
            "cluster", "What the question shares with others: the text that it asks about, or its lineage."
        ),
        Column.text("discipline", "Discipline of the question.", DISCIPLINES),
        Column("stars", "int", "0 to 3; null means unparsed.", low=0, high=3),
        Column("reason", "text", "Reason the judge gave."),
        columns.RAW,
        columns.PARSE_STATUS,
        Column.moment("judged_at", "When."),
        columns.COST_USD,
        Column.count(
            "attempt",
            "Attempts until parsed or given up; 0 for an empty answer, which gets 0 stars by rule and says nothing of the judge.",
        ),
        columns.IS_SIMULATED,
    ),
)

HUMAN_RATINGS = Table(
    name="human_ratings",
    grain="One row per response, rater, round and scale.",
    key=("session_id", "seq", "rater", "round", "scale"),
    unit="a rating batch",
    stage="calibrate",
    own_columns=(
        columns.SESSION_ID,
        columns.SEQ,
        Column.text("rater", "The rater's user id."),
        Column.number("round", "Calibration round, from 1."),
        Column.text("scale", "Scale of the value.", ("stars_0_3", "score_0_1")),
        Column("value", "float", "The rating.", required=True, low=0, high=3),
        Column.moment("rated_at", "When it was given."),
        Column(
            "is_adjudication",
            "bool",
            "Whether it settles a disagreement of two others; null for ratings on other scales than stars.",
        ),
    ),
)

CALIBRATION = Table(
    name="calibration",
    grain="One row per judge, version of its prompt, candidate, occasion, round and weighting.",
    key=("judge", "prompt_version", "model", "occasion", "round", "weighting"),
    unit="a calibration round",
    stage="calibrate",
    own_columns=(
        columns.JUDGE,
        columns.PROMPT_VERSION,
        columns.MODEL,
        replace(columns.OCCASION, about="When it was calibrated: `first`, or the month, YYYY-MM."),
        Column.number("round", "Round, from 1."),
        Column.text("weighting", "Weighting of kappa.", ("none", "linear", "quadratic")),
        Column(
            "kappa",
            "float",
            "Cohen's kappa against the raters' consensus; null when undefined.",
            low=-1,
            high=1,
        ),
        Column("kappa_low", "float", "Lower end of the 95% interval of kappa.", low=-1, high=1),
        Column("kappa_high", "float", "Upper end of the 95% interval of kappa.", low=-1, high=1),
        Column.count("pair_count", "Responses rated by both."),
        Column("least_ratings", "int", "The setting judge_ratings_gate, as it was.", low=0),
    ),
)

ERROR_LABELS = Table(
    name="error_labels",
    grain="One row per failed response and labeller.",
    key=("session_id", "seq", "labeller"),
    unit="a label batch",
    stage="calibrate",
    own_columns=(
        columns.SESSION_ID,
        columns.SEQ,
        columns.MODEL,
        Column.text("labeller", "Rater or LLM that gave the label."),
        Column.flag("is_human", "Whether a person gave it."),
        Column("error_class", "text", "Class of the failure; null means unparsed.", allowed=ERROR_CLASSES),
        Column("sample_size", "int", "Failed responses drawn in this batch.", low=0),
        replace(columns.RAW, about="What the model returned; null where a person gave the label."),
        columns.PARSE_STATUS,
        replace(
            columns.PROMPT_VERSION,
            about="Version of the prompt and its language; null where a person gave the label.",
            required=False,
        ),
    ),
)

ERROR_SAMPLES = Table(
    name="error_samples",
    grain="One row per failed response drawn to be labelled, by sample.",
    key=("sample_id", "session_id", "seq"),
    unit="a sample",
    stage="errors",
    own_columns=(
        Column.text("sample_id", "The sample: the run, and a name where there are several."),
        columns.RUN_ID,
        columns.MONTH,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        Column.text("discipline", "Discipline of the question.", DISCIPLINES),
        replace(columns.JUDGE, about="The judge whose stars made it a failure."),
        Column("stars", "int", "The judge's stars.", required=True, low=0, high=1),
        Column.number("failed_count", "Failed responses of the candidate in the run."),
        Column.number("sample_size", "Of these drawn."),
        Column.moment("drawn_at", "When it was drawn."),
        columns.IS_SIMULATED,
    ),
)
