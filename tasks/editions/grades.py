"""How editions are attested: what their operator can state; checkers compute it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from schemas.editions import GRADES, LEAST_WITNESSES
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.exam.public import write_whole
from tasks.exam.public.draws import find_moment
from tasks.exam.public.log import name_public_folder, read_told, read_witnesses
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import PublicStep, list_public_entries, read_public_entries

GRADES_FILE: Final = "grades.json"
_KINDS: Final = ("commit", "draw", "edition")


@dataclass(frozen=True)
class Attestation:
    """Who attests an edition besides its operator.

    Attributes:
        grade: one of GRADES.
        witness_count: witnesses that were given a head that covers it.
        beacon: the round of drand that its run was drawn with; null for none, and for a value that was typed.
    """

    grade: str
    witness_count: int
    beacon: str | None


def grade_editions(
    entries: Sequence[PublicStep], told: Sequence[Mapping[str, Any]]
) -> dict[str, Attestation]:
    """Every edition's attestation, by the log's entries and the lines of `witnesses.jsonl`.

    Of the log it takes `commit`, `draw` and `edition`. A head counts as early where a program took it before the round was given out: it has a clock of its own, a file has not.
    """
    commits: dict[str, PublicStep] = {}
    draws: dict[str, PublicStep] = {}
    found = {}
    for entry in entries:
        body = entry.body
        if entry.kind == "commit":
            commits[body["run"]] = entry
        elif entry.kind == "draw":
            draws[body["run"]] = entry
        else:
            covering = {row["witness"] for row in told if row["number"] >= entry.number}
            commit, draw = commits.get(body["run"]), draws.get(body["run"])
            beacon = None if commit is None or draw is None else commit.body["beacon"]
            given_out = None if beacon is None else find_moment(beacon)
            source = str(beacon["source"]) if beacon is not None and given_out is not None else None
            grade = GRADES[len(covering) >= LEAST_WITNESSES]
            if grade != GRADES[0] and given_out is not None and commit is not None and draw is not None:
                early = {
                    row["witness"]
                    for row in told
                    if row.get("by") == "command"
                    and commit.number <= row["number"] < draw.number
                    and datetime.fromisoformat(row["given_at"]) < given_out
                }
                grade = GRADES[2] if len(early) >= LEAST_WITNESSES else grade
            found[body["edition"]] = Attestation(grade, len(covering), source)
    return found


def keep_grades(ledger: Ledger, settings: Settings, lake: Lake | None = None) -> dict[str, Attestation]:
    """State every edition's grade in `public/grades.json`, land what changed, and return them."""
    with ledger.read() as connection:
        entries = list_public_entries(connection, _KINDS)
    found = grade_editions(entries, read_told(settings))
    stated = {edition: asdict(one) for edition, one in found.items()}
    line = json.dumps(stated, ensure_ascii=False, separators=(",", ":"))
    path = name_public_folder(settings) / GRADES_FILE
    is_stated = path.exists() and path.read_bytes() == f"{line}\n".encode()
    if lake is not None:
        _land(lake, stated)
    elif not is_stated:
        with open_lake(settings) as opened:
            _land(opened, stated)
    if not is_stated:
        write_whole(path, [line])
    return found


def foresee_grade(ledger: Ledger, settings: Settings, run_id: str) -> tuple[str, str]:
    """The grade of a run's edition once the witnesses are told, and what the next one takes."""
    witnesses = read_witnesses(settings.witnesses, settings)
    programs = sum(witness.path is None for witness in witnesses)
    with ledger.read() as connection:
        entries = read_public_entries(connection, run_id, _KINDS)
    is_drawn = any(entry.kind == "draw" for entry in entries)
    beacon = next((entry.body["beacon"] for entry in reversed(entries) if entry.kind == "commit"), None)
    if len(witnesses) < LEAST_WITNESSES:
        return GRADES[
            0
        ], f"{LEAST_WITNESSES - len(witnesses)} more to keep the log's heads: proctor settings set witnesses"
    if beacon is not None and "chain" in beacon and programs >= LEAST_WITNESSES:
        return GRADES[2], ""
    if is_drawn:
        return GRADES[1], "a round of drand, named before the draw; this run is drawn"
    if programs < LEAST_WITNESSES:
        return GRADES[1], "two witnesses that are programs, with a clock of their own"
    return GRADES[1], "a round of drand, named first: proctor exam commit --beacon drand"


def _land(lake: Lake, stated: Mapping[str, Mapping[str, Any]]) -> None:
    table = get_table("edition_grades")
    landed = {row.pop("edition_id"): row for row in lake.read("graded_editions").iter_rows(named=True)}
    for edition, values in stated.items():
        # Most editions need no row: without one they are self-attested.
        is_graded = edition in landed or values["grade"] != GRADES[0]
        if is_graded and landed.get(edition) != values:
            lake.land(table.name, edition, table.frame([{"edition_id": edition, **values}]))
