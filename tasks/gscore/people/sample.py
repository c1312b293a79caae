"""Samples of answers for people to score (CG-Eval, section 4.9).

They are drawn once, and kept by name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from schemas import patterns as re
from schemas.errors import ContractError, UsageError
from schemas.settings import Settings
from warehouse.stores.whole_files import writing_whole

SAMPLE_SIZE = 1_100
"""A tenth of CG-Eval's questions, as in the paper."""
SAMPLE_COLUMNS = (
    "question_uuid",
    "model",
    "run_id",
    "session_id",
    "seq",
    "category",
    "subject",
    "question",
    "reference",
    "response",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def draw_sample(
    answers: Sequence[pl.DataFrame], references: pl.DataFrame, seed: int, size: int = SAMPLE_SIZE
) -> pl.DataFrame:
    """Draw answers for people to score.

    Subjects have the shares of the pool, and each question has one model at random.

    `answers` holds the answers of each model (`answering.read_answers`), `references` what people compare them with; only
    questions with a reference are in the pool. Columns are SAMPLE_COLUMNS; several references stand one below the other.
    Raises UsageError when there are fewer questions than `size`.
    """
    if not answers:
        raise UsageError("No model has answered anything in this run. Run `proctor cgeval answer` first.")
    texts = references.with_columns(pl.col("references").list.drop_nulls()).select(
        "cgeval_id",
        reference=pl.when(pl.col("references").list.len() > 0)
        .then(pl.col("references").list.join("\n\n"))
        .otherwise(pl.col("reference_answers").list.drop_nulls().list.join("\n\n")),
    )
    pool = (
        pl.concat(answers)
        .join(texts, on="cgeval_id", how="inner")
        .rename({"cgeval_id": "question_uuid", "stem": "question"})
        .select(SAMPLE_COLUMNS)
    )
    return draw_human_sample(pool, seed, size)


def write_sample(settings: Settings, name: str, sample: pl.DataFrame) -> bool:
    """Keep a sample under a name; returns whether it is new.

    Raises UsageError when the name holds another sample.
    """
    path = get_sample_path(settings, name)
    if path.exists():
        if pl.read_parquet(path).equals(sample):
            return False
        raise UsageError(
            f"There is another sample named {name!r}, which people may be scoring. Choose another name."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing_whole(path) as draft:
        sample.write_parquet(draft)
    return True


def read_sample(settings: Settings, name: str) -> pl.DataFrame:
    """A sample that was kept; raises UsageError naming those there are."""
    path = get_sample_path(settings, name)
    if not path.exists():
        known = ", ".join(sorted(one.stem for one in path.parent.glob("*.parquet"))) or "none"
        raise UsageError(
            f"There is no sample {name!r}; there are: {known}. `proctor cgeval sample` draws one."
        )
    return pl.read_parquet(path)


def check_places(settings: Settings, questions: pl.DataFrame) -> None:
    """Raise UsageError where a question of a sample has another place than it was drawn at.

    What people gave is known by an answer's place: of other places it would be another answer's. `questions` has `cgeval_id`.
    """
    places = questions.select("cgeval_id").with_row_index("place", offset=1)
    for name, drawn in _read_samples(settings):
        kept = drawn.join(places, left_on="question_uuid", right_on="cgeval_id").filter(
            pl.col("seq") == pl.col("place")
        )
        if moved := drawn.height - kept.height:
            raise UsageError(
                f"{moved} of {drawn.height} questions of the sample {name!r} have another place in this file, or none, and people's scores are "
                "known by the place. Put further questions after those that were there, or import the file into another PROCTOR_HOME."
            )


def check_answers(settings: Settings, answers: pl.DataFrame) -> None:
    """Raise UsageError where a model has given another answer than the one in a sample.

    `answers` has `cgeval_id`, `session_id` and `response`, of a model as it is registered now.
    """
    now = answers.select("session_id", "cgeval_id", now="response")
    for name, drawn in _read_samples(settings):
        own = drawn.join(now, left_on=["session_id", "question_uuid"], right_on=["session_id", "cgeval_id"])
        if changed := own.filter(pl.col("response").ne_missing(pl.col("now"))).height:
            raise UsageError(
                f"{changed} questions of the sample {name!r} have another answer since people were asked to score it: the model was registered "
                "otherwise. Let it answer in a run of its own (--run), and score that; or register it as it was."
            )


def _read_samples(settings: Settings) -> Iterator[tuple[str, pl.DataFrame]]:
    for path in sorted((settings.home / "cgeval" / "samples").glob("*.parquet")):
        yield path.stem, pl.read_parquet(path, columns=["session_id", "seq", "question_uuid", "response"])


def get_sample_path(settings: Settings, name: str) -> Path:
    """Where a sample lies; raises UsageError for a name that is no file's."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a sample: use up to 40 letters, digits, dots, hyphens, underscores."
        )
    return settings.home / "cgeval" / "samples" / f"{name}.parquet"


def draw_human_sample(responses: pl.DataFrame, seed: int, size: int = SAMPLE_SIZE) -> pl.DataFrame:
    """Draw questions in proportion to the subjects' shares of the pool.

    Each comes with one model's response.

    `responses` has `subject`, `question_uuid`, `model` and whatever else should come along; the pool is its questions. Shares
    are rounded by largest remainder, so the sizes add up to `size`. The model of each question is drawn at random
    among those that answered it, the same for everyone who uses the same seed, whatever the order of the rows.
    Raises UsageError when the pool has fewer questions than `size`.
    """
    for name in ("subject", "question_uuid", "model"):
        if name not in responses.columns:
            raise ContractError(
                f"The responses to sample have no column {name!r}; they have {responses.columns}."
            )
    repeated = responses.filter(pl.struct("question_uuid", "model").is_duplicated())
    if len(repeated):
        raise ContractError(
            f"{len(repeated)} responses share question and model with another. Choose one run and repeat."
        )
    pool = responses.select("subject", "question_uuid").unique().sort("subject", "question_uuid")
    if pool["question_uuid"].n_unique() != len(pool):
        raise ContractError("Some questions stand under several subjects. Give each question one subject.")
    if len(pool) < size:
        raise UsageError(f"The pool has {len(pool)} questions, fewer than the {size} to draw. Draw fewer.")
    draw = random.Random(seed)
    by_subject: dict[str, list[str]] = {}
    for subject, question in pool.iter_rows():
        by_subject.setdefault(subject, []).append(question)
    sizes = compute_shares({subject: len(questions) for subject, questions in by_subject.items()}, size)
    chosen = [
        question
        for subject, questions in by_subject.items()
        for question in draw.sample(questions, sizes[subject])
    ]
    models: dict[str, list[str]] = {}
    for question, model in (
        responses.select("question_uuid", "model").sort("question_uuid", "model").iter_rows()
    ):
        models.setdefault(question, []).append(model)
    picked = pl.DataFrame(
        {"question_uuid": chosen, "model": [draw.choice(models[question]) for question in chosen]},
        schema={name: responses.schema[name] for name in ("question_uuid", "model")},
    )
    return picked.join(responses, on=["question_uuid", "model"], how="left", maintain_order="left").select(
        responses.columns
    )


def compute_shares(counts: dict[str, int], size: int) -> dict[str, int]:
    """Split `size` in proportion to `counts` by largest remainder.

    Ties go to the larger count, then to the name.
    """
    total = sum(counts.values())
    shares = {name: size * count // total for name, count in counts.items()}
    rest = size - sum(shares.values())
    by_remainder = sorted(counts, key=lambda name: (-(size * counts[name] % total), -counts[name], name))
    for name in by_remainder[:rest]:
        shares[name] += 1
    return shares
