"""The page of the method: formulas, what editions rest on, what was committed to before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.panels import Panel, Source

_PAGE = read_page("method")
ABOUT = _PAGE.about

_LOG: Final = "log.jsonl"
_KINDS: Final = ("commit", "share", "draw", "disclose")
_COMMITTED: Final = {
    "run": pl.String, "month": pl.String, "committed_at": pl.String, "entry": pl.Int64, "bank_version": pl.Int64, "bank_root": pl.String,
    "plan_commitment": pl.String, "share_commitment": pl.String, "seed_commitment": pl.String, "set_count": pl.Int64, "share_count": pl.Int64,
    "beacon": pl.String, "is_disclosed": pl.Boolean, "is_simulated": pl.Boolean,
}  # fmt: skip


def read_method(source: Source) -> list[Panel]:
    """The panels below the formulas, in order."""
    return [_read_editions(source), _read_commitments(source)]


def _read_editions(source: Source) -> Panel:
    frame = source.run_named("editions_published", source.shown)
    finding = None
    if frame.height:
        current = frame.filter(pl.col("is_current"))
        counts = {"current": current.height, "corrected": frame.height - current.height}
        finding = _PAGE.say("versions", counts | {"provisional": current["is_provisional"].sum()})
    return _PAGE.panel("versions", frame, params=source.shown, finding=finding)


def _read_commitments(source: Source) -> Panel:
    frame = read_commitments(source.public_dir)
    finding = None
    if frame.height:
        alone = frame.filter((pl.col("share_count") == 0) & pl.col("beacon").is_null()).height
        values = {"all": frame.height, "alone": alone, "disclosed": frame["is_disclosed"].sum()}
        finding = _PAGE.say("commitments", values)
    return _PAGE.panel("commitments", frame, finding=finding)


def read_commitments(public_dir: Path | None) -> pl.DataFrame:
    """One row per run of the public log, by its last commit; what is no entry is passed over."""
    runs: dict[str, dict[str, Any]] = {}
    shares: Counter[int] = Counter()
    for entry in _read_entries(public_dir):
        kind, body = entry["kind"], entry["body"]
        if kind == "commit":
            runs[body["run"]] = {
                "run": body["run"], "month": body["month"], "committed_at": entry["at"][:16].replace("T", " ") + " UTC",
                "entry": entry["number"], "bank_version": body["bank"]["version"], "bank_root": body["bank"]["root"],
                "plan_commitment": body["plan_commitment"], "share_commitment": body["share_commitment"],
                "seed_commitment": None, "set_count": None, "beacon": None, "is_disclosed": False, "is_simulated": body["is_simulated"],
            }  # fmt: skip
        elif kind == "share":
            shares[body["commit"]] += 1
        elif kind == "draw" and body["run"] in runs:
            beacon = body["beacon"]
            runs[body["run"]] |= {
                "seed_commitment": body["seed_commitment"],
                "set_count": len(body["sets"]),
                "beacon": None if beacon is None else _name_beacon(beacon),
            }
        elif kind == "disclose" and body["run"] in runs:
            runs[body["run"]]["is_disclosed"] = True
    rows = [row | {"share_count": shares[row["entry"]]} for row in runs.values()]
    return pl.DataFrame(rows, schema=_COMMITTED)


def _name_beacon(beacon: Mapping[str, Any]) -> str:
    """The source of a draw's beacon, and that its value was typed where no signature proves it."""
    return str(beacon["source"]) if "signature" in beacon else f"{beacon['source']} (typed)"


def _read_entries(public_dir: Path | None) -> list[dict[str, Any]]:
    """The entries of the kinds that the page shows; most lines are sessions, and not parsed."""
    if public_dir is None or not (public_dir / _LOG).is_file():
        return []
    wanted = tuple(f'"kind":"{kind}"' for kind in _KINDS)
    found = []
    with (public_dir / _LOG).open(encoding="utf-8") as lines:
        for line in lines:
            if any(kind in line[:120] for kind in wanted):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
    return found
