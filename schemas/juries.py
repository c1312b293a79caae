"""Judges as a jury, and what they give to the form of a response."""

from __future__ import annotations

from schemas.calibration import CALIBRATION_OCCASION, WORDING
from schemas.columns import IS_SIMULATED, JUDGE, MODEL, MONTH, PROMPT_STYLE, RUN_ID, SEQ, SESSION_ID
from schemas.editions import DISCIPLINE_OR_ALL, EDITION_ID
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

STYLE_FEATURES = ("length", "lists", "headings", "bold", "chinese")

_VOTES_HASH = Column.text("votes_hash", "Hash of the judgements and ratings that it rests on.")
_RATINGS_HASH = Column.text("ratings_hash", "Hash of the rated responses that it rests on.")
_SCORE = Column(
    "score", "float", "S as it was published, by the judge alone.", required=True, low=0, high=100
)
_COMPUTED_AT = Column.moment("computed_at", "When it was computed.")


def _points(name: str, about: str) -> tuple[Column, ...]:
    """A score with its standard error and interval."""
    return (
        Column(f"{name}_score", "float", about, low=0, high=100, required=True),
        Column(f"{name}_se", "float", f"Standard error of {name}_score.", low=0),
        Column(f"{name}_low", "float", f"Lower end of the 95% interval of {name}_score.", low=0, high=100),
        Column(f"{name}_high", "float", f"Upper end of the 95% interval of {name}_score.", low=0, high=100),
    )


JURY_JUDGES = Table(
    name="jury_judges",
    grain="One row per edition, judge of its jury, version of its prompt, discipline (and one over all) and state of judgements and ratings.",
    key=("edition_id", "votes_hash", "judge", "prompt_version", "discipline"),
    unit="an edition and state of its judgements and ratings",
    stage="calibrate",
    own_columns=(
        EDITION_ID,
        MONTH,
        _VOTES_HASH,
        JUDGE,
        WORDING,
        DISCIPLINE_OR_ALL,
        Column(
            "information_bits",
            "float",
            "What the judge's stars tell of those that a response deserves (mutual information); 2 bits is all there is of four equally frequent stars.",
            required=True,
            low=0,
            high=2,
        ),
        Column(
            "weight",
            "float",
            "Its information as a share of what the judges of the jury have together; null where none has any.",
            low=0,
            high=1,
        ),
        Column.share(
            "agreement_rate", "Chance that it gives the stars that a response deserves, as the jury finds."
        ),
        Column(
            "bias",
            "float",
            "Mean of its stars less those deserved, as the jury finds.",
            required=True,
            low=-3,
            high=3,
        ),
        Column.count("response_count", "Responses that it judged."),
        Column.count("rated_count", "Of these rated by people."),
        _COMPUTED_AT,
        IS_SIMULATED,
    ),
)

JURY_CONFUSIONS = Table(
    name="jury_confusions",
    grain="One row per judge of a jury, discipline (and one over all), stars that are deserved and stars that it gives.",
    key=(
        "edition_id",
        "votes_hash",
        "judge",
        "prompt_version",
        "discipline",
        "deserved_stars",
        "given_stars",
    ),
    unit="an edition and state of its judgements and ratings",
    stage="calibrate",
    own_columns=(
        EDITION_ID,
        MONTH,
        _VOTES_HASH,
        JUDGE,
        WORDING,
        DISCIPLINE_OR_ALL,
        Column("deserved_stars", "int", "Stars that the response deserves.", required=True, low=0, high=3),
        Column("given_stars", "int", "Stars that the judge gives.", required=True, low=0, high=3),
        Column.share("chance", "Chance that it gives them, drawn towards what it does in all disciplines."),
        _COMPUTED_AT,
        IS_SIMULATED,
    ),
)

JURY_SCORES = Table(
    name="jury_scores",
    grain="One row per edition, prompt style, candidate, estimator and state of judgements and ratings.",
    key=("edition_id", "prompt_style", "model", "estimator", "votes_hash"),
    unit="an edition and state of its judgements and ratings",
    stage="calibrate",
    own_columns=(
        EDITION_ID,
        MONTH,
        PROMPT_STYLE,
        MODEL,
        Column.text(
            "estimator",
            "`jury`: what the judges make of the responses together, with what people rated; `prediction_powered`: the same, corrected by "
            "the candidate's own ratings, which hold where judges err alike.",
            ("jury", "prediction_powered"),
        ),
        _VOTES_HASH,
        _SCORE,
        *_points("jury", "S by the stars that the jury finds deserved, 0 to 100."),
        Column("judge_count", "int", "Judges of the jury.", required=True, low=2),
        Column.count("response_count", "Responses of the candidate in this style."),
        Column.count("rated_count", "Of these rated by people."),
        _COMPUTED_AT,
        IS_SIMULATED,
    ),
)

JURY_STARS = Table(
    name="jury_stars",
    grain="One row per response that a jury of the edition judged, by the last state of judgements and ratings.",
    key=("edition_id", "session_id", "seq"),
    unit="an edition",
    stage="calibrate",
    partition_by="month",
    own_columns=(
        EDITION_ID,
        RUN_ID,
        MONTH,
        SESSION_ID,
        SEQ,
        MODEL,
        PROMPT_STYLE,
        Column.text("discipline", "Discipline of the question.", DISCIPLINES),
        _VOTES_HASH,
        Column("jury_stars", "float", "Mean of the stars that it may deserve.", required=True, low=0, high=3),
        *(
            Column.share(
                f"chance_{stars}", f"Chance that it deserves {stars} star{'' if stars == 1 else 's'}."
            )
            for stars in range(4)
        ),
        Column.count("judge_count", "Judges that gave it stars."),
        Column.flag("is_rated", "Whether people rated it: the chances are then the shares of their stars."),
        IS_SIMULATED,
    ),
)

JUDGE_STYLE_EFFECTS = Table(
    name="judge_style_effects",
    grain="One row per judge, version of its prompt, occasion and feature of a response.",
    key=("judge", "prompt_version", "occasion", "feature"),
    unit="an occasion",
    stage="calibrate",
    own_columns=(
        JUDGE,
        WORDING,
        CALIBRATION_OCCASION,
        Column.text(
            "feature",
            "`length`: binary logarithm of the characters, so that one more is twice as long; `lists`, `headings`, `bold`: binary logarithm of 1 and the "
            "number of list items, headings, bold passages; `chinese`: 1 for a reply in Chinese, else 0.",
            STYLE_FEATURES,
        ),
        Column.number("pair_count", "Responses rated by people and judge."),
        Column.number("cluster_count", "Questions, or passages, that they answer: what the errors rest on."),
        Column("feature_mean", "float", "Mean of the feature over them.", required=True),
        Column("feature_sd", "float", "Its standard deviation.", required=True, low=0),
        Column(
            "effect",
            "float",
            "Stars that the judge gives for one more of the feature, where people gave the same to responses of one candidate; null where "
            "the feature does not vary.",
        ),
        Column("effect_se", "float", "Its standard error, by clusters.", low=0),
        Column("effect_low", "float", "Lower end of the 95% interval of effect."),
        Column("effect_high", "float", "Upper end of the 95% interval of effect."),
        Column("p_value", "float", "Of the test that there is no effect.", low=0, high=1),
        Column("p_holm", "float", "The same, corrected for all features of the judge.", low=0, high=1),
        IS_SIMULATED,
    ),
)

STYLE_CONTROLLED_SCORES = Table(
    name="style_controlled_scores",
    grain="One row per edition, prompt style, candidate and state of the ratings.",
    key=("edition_id", "prompt_style", "model", "ratings_hash"),
    unit="an edition and state of the ratings",
    stage="calibrate",
    own_columns=(
        EDITION_ID,
        MONTH,
        PROMPT_STYLE,
        MODEL,
        _RATINGS_HASH,
        JUDGE,
        WORDING,
        _SCORE,
        *_points("controlled", "S less what the form of the responses gains from the judge, 0 to 100."),
        Column("length_mean", "float", "Mean of the feature length over the candidate's responses."),
        *(
            Column(f"{name}_mean", "float", f"Mean of the feature {name}.", low=0)
            for name in STYLE_FEATURES[1:]
        ),
        Column.number("rated_count", "Rated responses that the effects rest on, of all candidates."),
        _COMPUTED_AT,
        IS_SIMULATED,
    ),
)
