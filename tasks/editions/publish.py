"""Publish a run: compute its numbers once, freeze them, and never change them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.editions.basis import Basis, QueryReader, read_basis
from tasks.editions.chance import add_chance
from tasks.editions.changes import estimate_changes
from tasks.editions.equating import Equating, equate_edition
from tasks.editions.estimates import (
    arrange_styles,
    compare_candidates,
    count_stars,
    estimate_pairs,
    estimate_scores,
)
from tasks.editions.gates import check_gates, check_overrides, find_provisional, find_shut_gates
from tasks.editions.improvements import complete_improvements
from tasks.editions.judge_checks import describe_checks
from tasks.editions.series import choose_counted, estimate_series, find_picture_scope
from tasks.editions.sessions import summarise_sessions
from tasks.editions.standings import list_standings
from tasks.running.approvals import Request
from tasks.running.claiming import hold_work
from tasks.statistics import on_one_thread
from warehouse.lake import RowParts, hash_rows, read_code_version, unsign_zeros

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.lake import Batch, Lake

# The version of how intervals and comparisons are made; what was published before keeps its own.
INTERVAL_METHOD = "score, max-t"
# Tables that editions of an earlier version had not: without rows they are no part of a root.
_LATER = ("edition_series",)
_PAIRS = "edition_pairs"

Step = Callable[[str], None]
Confirm = Callable[[Request], None]


@dataclass(frozen=True)
class Revision:
    """What a person asked for beyond publishing a run for the first time.

    Attributes:
        is_wanted: publish again what was published, as a correction.
        reason: why a correction is made, or why gates are overridden.
        overridden: gates to pass although they are shut.
        is_recalibrated: fit all editions so far from nothing, on a scale of its own, instead of linking to what they published.
    """

    is_wanted: bool = False
    reason: str | None = None
    overridden: Sequence[str] = ()
    is_recalibrated: bool = False


@dataclass(frozen=True)
class Edition:
    """One edition ready to be landed, or as it was landed.

    Attributes:
        is_simulated: whether candidates and judges are.
        is_new: whether this call published it.
        is_outdated: an edition that stands, while what it rests on has changed since.
        frames: table → its rows; empty for one that stands in the lake.
        pairs: rows of `edition_pairs` that come before those of its frame, in files; null for one that stands.
        hashes: table → the hash of its rows, the edition's own row left out; empty for one that stands.
        basis: what it was computed from; null for one that stands or was landed.
    """

    edition_id: str
    run_id: str
    month: str
    is_simulated: bool
    is_new: bool
    is_outdated: bool
    candidate_count: int
    overridden: tuple[str, ...] = ()
    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    hashes: Mapping[str, str] = field(default_factory=dict, repr=False)
    basis: Basis | None = field(default=None, repr=False)
    pairs: RowParts | None = field(default=None, repr=False)


@dataclass(frozen=True)
class PublishingHooks:
    """Who is told and asked while a run is published.

    Attributes:
        confirm: asked before anything is published in spite of a gate; raises to keep it from being so.
        before_landing: called with a new edition right before the lake has it, while nobody else can publish the run.
    """

    step: Step = lambda _: None
    confirm: Confirm = lambda _: None
    before_landing: Callable[[Edition], None] = lambda _: None


@dataclass(frozen=True)
class Imprint:
    """What an edition says of itself beside its numbers.

    Attributes:
        revision: 1 for the first edition of a run.
        replaces: the edition that it corrects; null for the first.
        reason: why it corrects it; null for the first.
        provisional: why the order may change; null for what follows from the basis alone.
    """

    revision: int = 1
    replaces: str | None = None
    reason: str | None = None
    overridden: Sequence[str] = ()
    override_reason: str | None = None
    provisional: Sequence[str] | None = None


def publish_run(
    lake: Lake,
    settings: Settings,
    run_id: str,
    disciplines: Sequence[str],
    revision: Revision | None = None,
    *,
    hooks: PublishingHooks | None = None,
) -> Edition:
    """Publish a run, once; `disciplines` weigh the same each, `hooks` are called on the way.

    A run that was published stands as it is, unless a revision is asked for with a reason. Raises GateError when a gate is
    shut, UsageError for a run that is not there or a revision without reason or without change.
    """
    asked, hooks = revision or Revision(), hooks or PublishingHooks()
    check_overrides(asked.overridden, asked.reason)
    with hold_work(settings, "publish-edition", run_id, what=f"publishing {run_id}", wait_s=600):
        # One transaction: what an edition rests on is what was there at one moment (and 34 queries are a third cheaper in it).
        with lake.read_transaction():
            prepared = _prepare(lake.read, settings, run_id, disciplines, asked, hooks)
        if prepared.is_new:
            hooks.step("freezing it")
            hooks.before_landing(prepared)
            # Half of what an edition takes in memory is its basis.
            prepared = replace(prepared, basis=None)
            lake.land_together(_list_batches(prepared), stage="publish")
        # Also of an edition that stands: who published it may have been killed before this.
        complete_improvements(lake, is_simulated=prepared.is_simulated)
    return prepared


def _list_batches(edition: Edition) -> list[Batch]:
    from warehouse.lake import Batch

    filed = {} if edition.pairs is None else {_PAIRS: edition.pairs.files}
    return [
        Batch(
            table, edition.edition_id, frame, rows_hash=edition.hashes.get(table), files=filed.get(table, ())
        )
        for table, frame in edition.frames.items()
    ]


def _prepare(
    read: QueryReader,
    settings: Settings,
    run_id: str,
    disciplines: Sequence[str],
    asked: Revision,
    hooks: PublishingHooks,
) -> Edition:
    """The edition that is to be landed, or the one that stands."""
    published = read("run_revisions", {"run_id": run_id})
    last = None if published.is_empty() else published.row(-1, named=True)
    hooks.step("reading what it rests on")
    basis = read_basis(read, run_id, disciplines, least_ratings=settings.judge_ratings_gate)
    has_changed = last is not None and last["basis_hash"] != basis.hash()
    if last is not None and not asked.is_wanted:
        return _describe_standing(last, is_outdated=has_changed)
    if last is not None:
        _check_revision(last, asked, has_changed=has_changed)
    shut = find_shut_gates(basis, settings)
    check_gates(shut, asked.overridden, run_id)
    revision = 1 if last is None else int(last["revision"]) + 1
    if shut:
        hooks.confirm(
            Request(
                "override",
                f"{run_id}/{revision}",
                {"gates": sorted(gate.gate for gate in shut), "reason": asked.reason, "basis": basis.hash()},
            )
        )
    return freeze_edition(
        read,
        basis,
        Imprint(
            revision=revision,
            replaces=None if last is None else str(last["edition_id"]),
            reason=asked.reason if last is not None else None,
            overridden=[gate.gate for gate in shut],
            override_reason=asked.reason if shut else None,
            provisional=find_provisional(basis, settings),
        ),
        now=datetime.now(UTC),
        step=hooks.step,
        is_recalibrated=asked.is_recalibrated,
        home=settings.home,
    )


@on_one_thread()
def freeze_edition(
    read: QueryReader,
    basis: Basis,
    imprint: Imprint | None = None,
    *,
    now: datetime,
    step: Step = lambda _: None,
    is_recalibrated: bool = False,
    home: Path | None = None,
) -> Edition:
    """Every row of an edition, from its basis and the editions before it; nothing is written."""
    imprint = imprint or Imprint()
    edition_id = f"{basis.run['run_id']}/{imprint.revision}"
    month = str(basis.run["month"])
    counted = choose_counted(basis)
    sessions = summarise_sessions(counted)
    shared = {
        "edition_id": edition_id,
        "run_id": basis.run["run_id"],
        "month": month,
        "is_simulated": bool(basis.run["is_simulated"]),
    }
    pairs = RowParts(_PAIRS, home)
    frames, persons = _estimate(
        read,
        counted,
        edition_id,
        sessions,
        step,
        keep_pairs=lambda frame: pairs.add(_conform(_PAIRS, frame, shared)),
        is_recalibrated=is_recalibrated,
    )
    frames["edition_sessions"] = sessions
    frames["edition_series"] = estimate_series(basis, sessions)
    # Each frame goes as its rows come: both at once would be the most that publishing holds.
    rows = {table: _conform(table, frames.pop(table), shared) for table in list(frames)}
    standings = list_standings(read, counted, edition_id, rows["edition_scores"], persons)
    rows["edition_standings"] = _conform("edition_standings", standings, shared)
    hashes = hash_tables(rows) | {_PAIRS: pairs.hash()}
    rows[_PAIRS] = pairs.frame
    head = _describe_edition(basis, rows, hashes, imprint, edition_id=edition_id, published_at=now)
    rows["editions"] = head
    return Edition(
        edition_id=edition_id,
        run_id=str(basis.run["run_id"]),
        month=month,
        is_simulated=bool(basis.run["is_simulated"]),
        is_new=True,
        is_outdated=False,
        candidate_count=int(head["candidate_count"][0]),
        overridden=tuple(imprint.overridden),
        frames=rows,
        hashes=hashes,
        basis=basis,
        pairs=pairs,
    )


def _estimate(
    read: QueryReader,
    basis: Basis,
    edition_id: str,
    sessions: pl.DataFrame,
    step: Step,
    *,
    keep_pairs: Callable[[pl.DataFrame], None],
    is_recalibrated: bool,
) -> tuple[dict[str, pl.DataFrame | None], pl.DataFrame]:
    """Table → its rows without the edition, and everybody on the scale as in `Equating.persons`."""
    step("scores, ranks and pairs")
    models = basis.sessions.filter("is_complete")["model"].unique().sort().to_list()
    earlier = read(
        "earlier_scores",
        {"models": models, "month": str(basis.run["month"]), "is_simulated": bool(basis.run["is_simulated"])},
    )
    parts: dict[str, list[pl.DataFrame]] = {"edition_stars": [], "edition_scores": []}
    for answers in arrange_styles(basis):
        pairs = compare_candidates(answers)
        scores = estimate_scores(answers, pairs, sessions, str(basis.run["reference_model"]))
        changes = estimate_changes(read, basis, answers, earlier)
        if not changes.is_empty():
            scores = scores.join(changes, on=["model", "discipline"], how="left")
        parts["edition_scores"].append(add_chance(read, basis, answers, scores))
        for frame in estimate_pairs(answers, pairs):
            keep_pairs(frame)
        parts["edition_stars"].append(count_stars(answers))
    frames = {
        table: pl.concat(found, how="diagonal_relaxed") if found else None for table, found in parts.items()
    }
    parts.clear()
    step("linking it to earlier months")
    equating = equate_edition(
        read, basis, edition_id, frames["edition_stars"], is_from_nothing=is_recalibrated
    )
    frames["edition_scores"] = _add_equated(frames["edition_scores"], equating)
    frames["edition_items"], frames["edition_fits"] = equating.items, equating.fits
    return frames, equating.persons


def hash_tables(rows: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Table → the hash of an edition's rows in it, as a landing keeps it too."""
    return {
        table: hash_rows(frame) for table, frame in rows.items() if not (table in _LATER and frame.is_empty())
    }


def complete_hashes(hashes: Mapping[str, str | None]) -> dict[str, str]:
    """Table → the hash of an edition's rows in it, as `hash_tables` gives them; null is no rows."""
    nothing = hash_rows(pl.DataFrame())
    return {
        table: found or nothing for table, found in hashes.items() if found is not None or table not in _LATER
    }


def compute_root(head: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
    """SHA-256 of an edition's row (less its root) and of every frozen row (`hash_tables`)."""
    digest = hashlib.sha256()
    own = {
        name: str(value)
        for name, value in head.items()
        if name not in ("root_hash", "landing_unit") and value is not None
    }
    digest.update(json.dumps(own, sort_keys=True, ensure_ascii=False).encode())
    for table in sorted(hashes):
        digest.update(f"{table} {hashes[table]}\n".encode())
    return digest.hexdigest()


def _describe_edition(
    basis: Basis,
    rows: Mapping[str, pl.DataFrame],
    hashes: Mapping[str, str],
    imprint: Imprint,
    *,
    edition_id: str,
    published_at: datetime,
) -> pl.DataFrame:
    judge = basis.judges[0]
    provisional = imprint.provisional
    if provisional is None:
        provisional = ["uncalibrated"] if judge.mean_kappa is None else []
    scored = rows["edition_scores"].filter(pl.col("score").is_not_null())
    head: dict[str, Any] = {
        "edition_id": edition_id,
        **{
            name: basis.run[name]
            for name in (
                "run_id",
                "month",
                "is_repetition",
                "planned_at",
                "bank_version",
                "set_size",
                "reference_model",
                "is_simulated",
            )
        },
        "revision": imprint.revision,
        "replaces": imprint.replaces,
        "reason": imprint.reason,
        "published_at": published_at,
        "judge": judge.judge,
        "judge_prompt_version": judge.prompt_wording,
        "next_judges": [one.key for one in basis.judges[1:]],
        "mean_kappa": judge.mean_kappa,
        "mean_kappa_low": judge.mean_kappa_low,
        "rated_count": judge.rated_count,
        "is_provisional": bool(provisional),
        "provisional_because": list(provisional) or None,
        **describe_checks(basis),
        "exam_prompt_versions": _list_prompts(basis),
        "picture_scope": find_picture_scope(basis),
        "disciplines": list(basis.weights),
        "weights": json.dumps(dict(basis.weights), ensure_ascii=False),
        "candidate_count": scored["model"].n_unique(),
        "unparsed_count": int(rows["edition_sessions"].filter("is_complete")["unparsed_count"].sum()),
        "overridden_gates": list(imprint.overridden),
        "override_reason": imprint.override_reason,
        "interval_method": INTERVAL_METHOD,
        "code_version": read_code_version(),
        "basis_hash": basis.hash(),
        "root_hash": "",
    }
    frame = get_table("editions").frame([head])
    root = compute_root(frame.row(0, named=True), hashes)
    return frame.with_columns(root_hash=pl.lit(root))


def _list_prompts(basis: Basis) -> list[str]:
    if basis.answers.is_empty():
        return []
    return [str(version) for version in basis.answers["prompt_version"].drop_nulls().unique().sort()]


def _conform(table: str, frame: pl.DataFrame | None, shared: Mapping[str, object]) -> pl.DataFrame:
    """The frame with the table's own columns in their order; what it lacks is null."""
    contract = get_table(table)
    names = [column.name for column in contract.own_columns]
    if frame is None:
        return contract.frame([])
    # What is coded is large: it stays so, and as its rows came, until it is written.
    is_coded = pl.Categorical in frame.dtypes
    kept = {
        name: kind for name, kind in frame.schema.items() if is_coded and kind in (pl.Categorical, pl.Int32)
    }
    columns = [
        (pl.lit(shared[name]) if name in shared else pl.col(name) if name in frame.columns else pl.lit(None))
        .cast(kept.get(name, contract.polars_schema[name]))
        .alias(name)
        for name in names
    ]
    # As it will be read again: what is hashed here is what lies in the lake.
    found = unsign_zeros(frame.select(columns))
    return found if is_coded else found.sort(contract.key)


def _add_equated(scores: pl.DataFrame | None, equating: Equating) -> pl.DataFrame | None:
    if scores is None or equating.scores.is_empty():
        return scores
    return scores.join(equating.scores, on=["model", "prompt_style", "discipline"], how="left")


def _describe_standing(row: Mapping[str, Any], *, is_outdated: bool) -> Edition:
    return Edition(
        edition_id=str(row["edition_id"]),
        run_id=str(row["run_id"]),
        month=str(row["month"]),
        is_simulated=bool(row["is_simulated"]),
        is_new=False,
        is_outdated=is_outdated,
        candidate_count=int(row["candidate_count"]),
        overridden=tuple(row["overridden_gates"] or ()),
    )


def _check_revision(last: Mapping[str, Any], asked: Revision, *, has_changed: bool) -> None:
    if not (asked.reason or "").strip():
        raise UsageError(
            f"{last['edition_id']} was published and stays. A correction needs its reason: add --reason TEXT."
        )
    if not has_changed and not asked.is_recalibrated:
        raise UsageError(
            f"Nothing that {last['edition_id']} rests on has changed since it was published: a correction would say the same."
        )
