"""What the demo has published verifies in a bare Python.

What is changed in it, or in the lake before it, does not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from tests.e2e.conftest import ROOT, Demo, Home
from tests.second_verifier import verify as second_verifier
from warehouse.lake import open_lake

pytestmark = pytest.mark.prefect

VERIFIER = ROOT / "tasks" / "exam" / "public" / "verifier.py"


def verify(folder: Path, *options: str) -> dict[str, Any]:
    """What a copy of the verifier says that knows nothing of this checkout."""
    copied = shutil.copy(VERIFIER, folder.parent / "copied.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(copied), str(folder), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) in ((0, ""), (1, ""))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Published:
    """A copy of the demo's home, sealed, with the head beside it as a witness keeps it."""

    home: Home
    witness: Path

    @property
    def folder(self) -> Path:
        return self.home.path / "public"


@pytest.fixture(scope="module")
def published(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    home = demo.home.copy(folder / "home")
    home.run("exam", "seal", "--witness", str(folder / "witness.jsonl"))
    return Published(home, folder / "witness.jsonl")


def test_what_the_demo_publishes_a_bare_python_accepts_and_recomputes(published: Published) -> None:
    assert published.home.run("exam", "verify").returncode == 0
    found = verify(published.folder, "--head", str(published.witness))
    assert (found["faults"], found["checked"]["given_heads"]) == ([], 1)
    assert found["checked"]["runs"] == 2
    assert found["checked"]["planned_sessions"] > 20
    assert found["checked"]["editions"] == len(published.home.read_json("sql", "editions_published"))
    assert not [note for note in found["notes"] if "recomputed" in note]


def test_a_verifier_that_was_written_from_the_page_alone_agrees(published: Published) -> None:
    assert second_verifier.verify(published.folder) == []


@pytest.mark.long
def test_an_answer_and_its_stars_changed_in_the_lake_are_found_in_the_edition_that_rests_on_them(
    published: Published, tmp_path: Path
) -> None:
    """An editor with the lake in hand changes an answer and publishes a correction.

    The editor gives a candidate another answer, and three stars for it.
    """
    home = published.home.copy(tmp_path / "home")
    settings = Settings(home=home.path)
    with open_lake(settings) as lake:
        (run_id, session_id, seq) = lake.query(
            """
            SELECT j.run_id, j.session_id, j.seq
            FROM scored_responses AS j
            JOIN responses AS r ON r.session_id = j.session_id AND r.seq = j.seq
            WHERE r.answer_status = 'answered' AND j.stars = 0 AND j.prompt_style = 'zero_shot'
            ORDER BY ALL DESC
            LIMIT 1
            """
        ).row(0)
        is_it = (pl.col("session_id") == session_id) & (pl.col("seq") == seq)
        for table, column, value in (
            ("responses", "response", "A better answer."),
            ("judgements", "stars", 3),
        ):
            query = f"""
                SELECT * FROM {table} WHERE landing_unit IN (
                    SELECT landing_unit FROM {table} WHERE session_id = $session AND seq = $seq
                )
            """
            rows = lake.query(query, {"session": session_id, "seq": seq})
            for (unit,), part in rows.partition_by("landing_unit", as_dict=True).items():
                kind = part[column].dtype
                changed = part.with_columns(
                    pl.when(is_it).then(pl.lit(value)).otherwise(column).cast(kind).alias(column)
                )
                lake.land(table, str(unit), changed.drop("landing_unit"))
    home.run("publish", run_id, "--revise", "--reason", "a correction")
    found = verify(home.path / "public")
    assert {fault["statement"] for fault in found["faults"]} == {"answers_wrong"}
    assert all(session_id in fault["what"] for fault in found["faults"])


def edit(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    """Replace the last occurrence in the files of this name."""

    def change(folder: Path) -> None:
        paths = sorted(folder.glob(name))
        assert paths
        raw = paths[0].read_bytes()
        place = raw.rfind(old)
        assert place >= 0
        paths[0].write_bytes(raw[:place] + new + raw[place + len(old) :])

    return change


def cut_log(folder: Path) -> None:
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "log.jsonl").write_bytes(b"".join(lines[:-5]))
    (folder / "heads.jsonl").write_bytes(b"")


# What is found whatever else was changed stands together: one verifier looks at it.
TAMPERINGS: dict[str, dict[str, Callable[[Path], None]]] = {
    "another seed, an order, a weight and a bank": {
        "seed_wrong": edit("runs/*/seed.json", b'"seed":', b'"former":'),
        "order_wrong": edit("runs/*/orders.jsonl", b'"order":[', b'"order":[9,'),
        "plan_wrong": edit("runs/*/plan.json", b'"weights":{', b'"weights":{"History":1,'),
        "bank_wrong": edit("banks/*.jsonl", b'",1,"', b'",2,"'),
    },
    "a question": {"set_wrong": edit("runs/*/sets.jsonl", b'"items":[["', b'"items":[["0')},
    "a closing": {"log_broken": edit("log.jsonl", b'"kind":"close"', b'"kind":"quit"')},
    "the end of the log, with all heads": {"log_truncated": cut_log},
}


@pytest.mark.parametrize(
    "name",
    # Each is found by the verifier's own tests; here it is the demo's folder that is looked at.
    [
        name if count == 0 else pytest.param(name, marks=pytest.mark.long)
        for count, name in enumerate(TAMPERINGS)
    ],
)
def test_what_an_editor_changes_in_the_demo_s_folder_is_refused(
    name: str, published: Published, tmp_path: Path
) -> None:
    folder = tmp_path / "public"
    shutil.copytree(published.folder, folder)
    for change in TAMPERINGS[name].values():
        change(folder)
    found = verify(folder, "--head", str(published.witness))
    assert set(TAMPERINGS[name]) <= {fault["statement"] for fault in found["faults"]}
