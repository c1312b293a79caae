"""Somebody who may write to the ledger changes it between the draw and the close.

Nothing false is published that a verifier accepts. Whatever was done, one of three is true of the public folder afterwards: a command
has refused to go on, the verifier names a fault, or everything that is published is what would have been published without it. In the
last case the audit of the log still names it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ProctorError
from tasks.exam.closed import close_run, force_close
from tasks.exam.log import check_log
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tasks.exam.public.log.heads import keep_public_head
from tasks.exam.public.verifier import verify
from tests.hunts import some
from tests.tasks.exam.tamperings import TAMPERINGS, Victim
from tests.tasks.exam.test_tamperings import fill
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Victim]]:
    """A drawn run with a session closed and one under way; only copied."""
    folder = tmp_path_factory.mktemp("edited") / "kept"
    folder.mkdir()
    with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        victim = fill(ledger, folder / "home")
    yield folder, victim


def finish(
    filled: tuple[Path, Victim], folder: Path, name: str | None
) -> tuple[str, dict[str, Any], list[str]]:
    """Change the ledger, then close and disclose the run.

    Returns the outcome, what is then published, and what the audit of the log finds. The outcome is
    `refused`, `done`, or the statements that the verifier finds false.
    """
    kept, victim = filled
    shutil.copytree(kept, folder)
    settings = victim.settings.model_copy(update={"home": folder / "home"})
    moved = replace(victim, settings=settings)
    with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        if name is not None:
            with ledger.engine.connect() as connection:
                connection.exec_driver_sql("BEGIN")
                TAMPERINGS[name][0](connection, moved)
                connection.exec_driver_sql("COMMIT")
        try:
            force_close(ledger, moved.run_id, "the exam is over")
            close_run(ledger, moved.run_id)
            disclose_closed_runs(ledger, settings)
            keep_public_head(ledger, settings)
        except ProctorError:
            return "refused", {}, []
        audited = [finding.name for finding in check_log(ledger, settings).findings]
    public = folder / "home" / "public"
    findings = verify(str(public))
    faults = sorted({statement for statement, _ in findings.faults})
    if not (public / "runs" / moved.run_id / "seed.json").exists():
        return "refused", {}, audited
    return " ".join(faults) or "done", read_published(public), audited


def read_published(public: Path) -> dict[str, Any]:
    """Every file of the run, and every entry of the log without its time and what hangs on it."""
    files = {path.name: path.read_bytes() for path in public.glob("runs/*/*")}
    files |= {path.name: path.read_bytes() for path in public.glob("banks/*")}
    lines = (public / "log.jsonl").read_text("utf-8").splitlines()
    entries = [(entry["kind"], entry["body"]) for entry in map(json.loads, lines)]
    return {"files": files, "entries": sorted(entries, key=json.dumps)}


@pytest.fixture(scope="module")
def honest(filled: tuple[Path, Victim], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    outcome, published, audited = finish(filled, tmp_path_factory.mktemp("honest") / "copy", None)
    assert (outcome, audited) == ("done", [])
    return published


# Those of which more is said below.
NAMED = ("the_key_of_the_log_is_deleted", "a_drawn_question_is_changed")


@pytest.mark.hunt
@pytest.mark.parametrize(
    "name", some(list(TAMPERINGS), 12, kind=lambda name: name if name in NAMED else "another")
)
def test_whoever_edits_the_ledger_publishes_nothing_false_that_a_verifier_takes(
    name: str, filled: tuple[Path, Victim], honest: dict[str, Any], tmp_path: Path
) -> None:
    outcome, published, audited = finish(filled, tmp_path / "copy", name)
    if name == "the_key_of_the_log_is_deleted":
        # Another takes its place, and both logs say so: the one by an entry, the other by a finding.
        new = [one for one in published["entries"] if one[0] == "key" and one not in honest["entries"]]
        assert len(new) == 1
        published["entries"].remove(new[0])
        assert audited == ["log_key_replaced"]
    assert outcome != "done" or published == honest
    # The home is a copy in another place: whose keys they are does not hang on where they lie.
    assert outcome != "done" or audited
    if name == "a_drawn_question_is_changed":
        # What was asked is not in any public file: the run stays undisclosed, for everybody to see.
        assert outcome == "refused"
