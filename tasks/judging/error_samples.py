"""Failed responses: drawn, labelled by a model, and confirmed or corrected by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import UsageError, WorkbookError, suggest
from schemas.judgements import ERROR_CLASSES
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.error_labels import draw_failure_sample, label_failures, name_label_unit
from tasks.judging.judge import PutResponse
from tasks.judging.landing import read_put_responses
from tasks.judging.people import check_persons
from tasks.judging.workbooks import Form, check_workbook_path, read_workbook, write_workbook
from tasks.models import ModelClient, read_call_frames
from tasks.models.budget import open_budget
from tasks.models.registry import RegisteredModel
from tasks.review.marking import compute_key
from tasks.running.archives import bring_back
from tasks.running.claiming import claim_work
from tasks.statistics.agreement import compute_kappa_interval, name_bounds
from tasks.texts import list_erased
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger

FORM = Form(
    command="proctor errors export",
    introduction=(
        "These responses were marked wrong. Say which class the main cause of each failure belongs to.",
        "disciplinary_knowledge: a concept, principle or method of the subject is missing or misapplied.",
        "misunderstanding: the question is misread and something else is answered.",
        "logical_reasoning: the knowledge is sound, but the inference or calculation goes wrong.",
        "factual_inaccuracy: a particular fact is wrong: a person, a date, a figure.",
        "format_compliance: the demanded form is not kept: no verdict given, no option chosen.",
        "Only the class is read back. A note may hold what a model thought; write the class yourself. Leave it empty where unsure.",
        "请判断每份作答失败的主要原因属于哪一类，并填写类别；备注中可能有模型的意见，仅供参考。",
    ),
    mark="error_class",
    marks=ERROR_CLASSES,
    note="note",
)


@dataclass(frozen=True)
class ImportedLabels:
    """A workbook's labels: new, in place of the person's earlier, there already; empty rows."""

    sample_id: str
    new: int
    changed: int
    unchanged: int
    left_empty: int


def draw_failures(
    lake: Lake, run_id: str, *, per_model: int, name: str = "", now: datetime | None = None
) -> pl.DataFrame:
    """Draw failed responses of a judged run by candidate and land `error_samples`.

    Drawing the same again changes nothing.

    `name` tells several samples of one run apart. Raises UsageError for a run that is not there or in which nothing failed, and
    for a sample that was drawn otherwise.
    """
    run = lake.read("edition_run", {"run_id": run_id})
    if run.is_empty():
        near = suggest(run_id, lake.read("landed_runs")["run_id"])
        raise UsageError(f"There is no run {run_id!r} in the lake.{near} `proctor status` lists the runs.")
    sample_id = f"{run_id}/{name}" if name else run_id
    failed = lake.read("failed_responses", {"run_id": run_id, "month": run["month"][0]})
    if failed.is_empty():
        raise UsageError(f"No judged response of run {run_id} has 0 or 1 star: there is no failure to label.")
    table = get_table("error_samples")
    drawn = draw_failure_sample(failed, per_model=per_model, seed=f"errors/{sample_id}").with_columns(
        sample_id=pl.lit(sample_id), drawn_at=pl.lit(now or datetime.now(UTC)).dt.cast_time_unit("us")
    )
    rows = drawn.select(
        pl.col(column.name).cast(table.polars_schema[column.name]) for column in table.own_columns
    ).sort("session_id", "seq")
    earlier = lake.read("error_samples_drawn", {"sample_id": sample_id})
    if not earlier.is_empty():
        if earlier.select("session_id", "seq").equals(rows.select("session_id", "seq")):
            return earlier
        raise UsageError(
            f"The sample {sample_id!r} was drawn already: {earlier.height} responses. It stays as it is; draw another one with "
            "--name."
        )
    lake.land("error_samples", sample_id, rows)
    return rows


async def prelabel_failures(
    ledger: Ledger, lake: Lake, settings: Settings, labeller: RegisteredModel, sample_id: str | None = None
) -> dict[str, object]:
    """Let a model label a sample, and land its labels with their calls.

    By default it is the sample drawn last. After a kill replies that were paid for are taken from the ledger;
    labels that are there are not asked for again. Raises CallFailed, BudgetError, and UsageError for a real
    model on simulated responses, or the other way round.
    """
    sample = read_sample(lake, sample_id)
    name = str(sample["sample_id"][0])
    if bool(sample["is_simulated"][0]) is not labeller.is_simulated:
        kind = "simulated" if sample["is_simulated"][0] else "real"
        raise UsageError(
            f"The sample {name!r} is {kind}, and only a {kind} model may label it. Name another with --model."
        )
    unit = name_unit(name, labeller.name)
    counts: dict[str, object] = {"sample_id": name, "labeller": labeller.name, "responses": sample.height}
    if lake.landed("error_labels", [unit]):
        return counts | {"labelled": 0, "unparsed": 0, "calls": {}}
    responses = read_failures(lake, sample).join(
        sample.select("session_id", "seq", "sample_size"), on=["session_id", "seq"]
    )
    run_id = str(sample["run_id"][0])
    with claim_work(ledger, "errors", unit, what=f"labelling the sample {name}"):
        for run in sample["run_id"].unique():
            bring_back(ledger, lake, run)
        budget = open_budget(ledger, settings.budget_usd, run_id)
        async with ModelClient(ledger, settings, budget=budget) as client:
            rows = await label_failures(client, labeller, responses)
            calls = dict(client.counts)
    months = dict(sample.select("session_id", "month").iter_rows())
    units = {name_label_unit(session_id, labeller.name): month for session_id, month in months.items()}
    frame = get_table("error_labels").frame(rows)
    batches = [Batch("error_labels", unit, frame)]
    batches += [Batch("llm_calls", of, one) for of, one in read_call_frames(ledger, units).items()]
    lake.land_together(batches, stage="errors")
    unparsed = frame["error_class"].null_count()
    return counts | {"labelled": frame.height - unparsed, "unparsed": unparsed, "calls": calls}


def export_failures(lake: Lake, path: Path, *, sample_id: str | None = None, is_blind: bool = False) -> int:
    """Write a sample's workbook, a model's opinion in the note unless blind; how many responses."""
    check_workbook_path(path)
    sample = read_sample(lake, sample_id)
    name = str(sample["sample_id"][0])
    labels = lake.read("error_labels_of", {"sample_id": name}).filter(
        ~pl.col("is_human") & pl.col("error_class").is_not_null()
    )
    thought = {
        (session_id, seq): f"{labeller}: {label}"
        for session_id, seq, labeller, label in labels.select(
            "session_id", "seq", "labeller", "error_class"
        ).iter_rows()
    }
    rows = {
        compute_key(name, row["session_id"], row["seq"]): (
            PutResponse.from_row(row),
            "",
            "" if is_blind else thought.get((row["session_id"], row["seq"]), ""),
        )
        for row in read_failures(lake, sample).iter_rows(named=True)
    }
    write_workbook(path, FORM, rows)
    return len(rows)


def import_failures(
    ledger: Ledger, lake: Lake, path: Path, person: str, *, sample_id: str | None = None
) -> ImportedLabels:
    """Land the classes that a person gave.

    The same workbook again changes nothing; an emptied cell withdraws nothing. Raises UsageError for a user
    who may not label, WorkbookError for a row that is none of the sample.
    """
    check_persons(ledger, [person])
    sample = read_sample(lake, sample_id)
    name = str(sample["sample_id"][0])
    places = {compute_key(name, row["session_id"], row["seq"]): row for row in sample.iter_rows(named=True)}
    given: dict[str, str] = {}
    left_empty = 0
    for row in read_workbook(path, FORM):
        if row.key not in places:
            raise WorkbookError(
                f"{row.place}, column A: the key is none of the sample {name!r}. Name the sample that the workbook was exported "
                "for with --sample."
            )
        if row.mark:
            given[row.key] = row.mark
        else:
            left_empty += 1
    return replace(land_labels(lake, sample, person, given), left_empty=left_empty)


def land_labels(lake: Lake, sample: pl.DataFrame, person: str, given: Mapping[str, str]) -> ImportedLabels:
    """Land a person's classes by key beside earlier ones; UsageError for a foreign key."""
    name = str(sample["sample_id"][0])
    places = {compute_key(name, row["session_id"], row["seq"]): row for row in sample.iter_rows(named=True)}
    if set(given) - set(places):
        raise UsageError(
            f"{len(set(given) - set(places))} of these responses are none of the sample {name!r}."
        )
    labels = lake.read("error_labels_of", {"sample_id": name}).filter(pl.col("labeller") == person)
    landed: dict[tuple[str, int], dict[str, Any]] = {
        (row["session_id"], row["seq"]): row for row in labels.iter_rows(named=True)
    }
    counts = {"new": 0, "changed": 0, "unchanged": 0}
    for key, label in given.items():
        put = places[key]
        before = landed.get((put["session_id"], put["seq"]))
        kind = "new" if before is None else "unchanged" if before["error_class"] == label else "changed"
        counts[kind] += 1
        landed[(put["session_id"], put["seq"])] = {
            "session_id": put["session_id"],
            "seq": put["seq"],
            "model": put["model"],
            "labeller": person,
            "is_human": True,
            "error_class": label,
            "sample_size": put["sample_size"],
            "parse_status": "parsed",
        }
    frame = get_table("error_labels").frame([landed[place] for place in sorted(landed)])
    lake.land("error_labels", name_unit(name, person), frame, stage="errors")
    return ImportedLabels(name, **counts, left_empty=0)


def compare_labels(lake: Lake, sample_id: str | None = None) -> dict[str, Any]:
    """How far a model's labels agree with people's, the first by name: counts, kappa, interval.

    With the rows of `error_shares` of all candidates of the sample's kind, simulated or not.
    """
    sample = read_sample(lake, sample_id)
    name = str(sample["sample_id"][0])
    labels = lake.read("error_labels_of", {"sample_id": name}).filter(pl.col("error_class").is_not_null())
    people = (
        labels.filter("is_human")
        .sort("labeller")
        .group_by("session_id", "seq", maintain_order=True)
        .first()
        .select("session_id", "seq", agreed="error_class")
    )
    codes = {label: code for code, label in enumerate(ERROR_CLASSES)}
    models: dict[str, object] = {}
    for (labeller,), own in labels.filter(~pl.col("is_human")).group_by("labeller", maintain_order=True):
        both = own.join(people, on=["session_id", "seq"])
        kappa = compute_kappa_interval(
            [codes[label] for label in both["agreed"]],
            [codes[label] for label in both["error_class"]],
            len(codes),
        )
        models[str(labeller)] = {
            "labelled": own.height,
            "compared": both.height,
            **name_bounds("kappa", kappa),
        }
    return {
        "sample_id": name,
        "drawn": sample.height,
        "labelled_by_people": people.height,
        "labelled_by_models": models,
        "shares": _read_shares(lake, is_simulated=bool(sample["is_simulated"][0])),
    }


def _read_shares(lake: Lake, *, is_simulated: bool) -> list[dict[str, Any]]:
    shares = lake.run_named("error_shares", {"simulated": is_simulated})
    return shares.filter(shares["is_simulated"] == is_simulated).to_dicts()


def read_sample(lake: Lake, sample_id: str | None = None) -> pl.DataFrame:
    """The sample asked for, by default the one drawn last; UsageError where there is none."""
    drawn = lake.read("error_samples_drawn", {"sample_id": sample_id})
    if drawn.is_empty():
        named = "" if sample_id is None else f" {sample_id!r}"
        raise UsageError(f"There is no sample of failures{named}. `proctor errors draw RUN` draws one.")
    return drawn.filter(pl.col("sample_id") == drawn["sample_id"][-1])


def name_unit(sample_id: str, labeller: str) -> str:
    """The unit of one labeller's labels of a sample."""
    return f"{sample_id}/{labeller}"


def drop_erased(lake: Lake, sample: pl.DataFrame) -> pl.DataFrame:
    """What of a sample can still be shown."""
    return sample.filter(~pl.col("session_id").is_in(list_erased(lake, sample["session_id"])))


def read_failures(lake: Lake, sample: pl.DataFrame) -> pl.DataFrame:
    """A sample's responses with their questions; UsageError where the texts of all were erased."""
    left = drop_erased(lake, sample)
    sample = sample if left.is_empty() else left
    return (
        read_put_responses(lake, sample["session_id"].unique().to_list(), sample["month"].unique().to_list())
        .join(sample.select("session_id", "seq"), on=["session_id", "seq"], how="semi")
        .sort("session_id", "seq")
    )
