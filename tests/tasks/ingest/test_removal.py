"""Removing a document: what goes, what stays, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import insert

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.ingest.landing import land_documents
from tasks.ingest.removal import find_document, remove_document
from tasks.review import read_unreviewed
from tasks.review.assigning import assign_batch
from tests.fresh import copy_home, open_new_lake
from tests.tasks.ingest.builders import write
from tests.tasks.review.kit import list_batches
from tests.warehouse.bank_rows import BANK, land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import review_assignments, review_questions, reviews
from warehouse.ledger.trust.users import add_user

WRONG = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n"
RIGHT = "一、判断题\n1. 秦统一于公元前221年。（√）\n"


@dataclass(frozen=True)
class World:
    lake: Lake
    ledger: Ledger
    settings: Settings
    folder: Path

    def remove(self, name: str = "wrong.txt", *, purge: bool = False) -> object:
        return remove_document(
            self.lake,
            self.ledger,
            (self.settings.archive_dir, self.settings.pages_dir),
            name,
            "not a paper",
            purge=purge,
        )

    def count(self, table: str) -> int:
        return int(self.lake.query(f"select count(*) from {table}").item())

    def assign(self) -> str:
        with self.ledger.write() as connection:
            for name in ("li", "wang"):
                add_user(connection, user_id=name, role="annotator")
        questions = read_unreviewed(self.lake)
        batch_id = assign_batch(self.ledger, None, questions, None, self.settings, now_text()).batch_id
        assert batch_id is not None
        return batch_id

    def items(self) -> int:
        with self.ledger.read() as connection:
            return len(connection.execute(review_questions.select()).all())


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two papers, and beside it a home in which they have landed; only copied."""
    made = tmp_path_factory.mktemp("landed")
    folder = made / "papers"
    folder.mkdir()
    write(folder, "wrong.txt", WRONG)
    write(folder, "right.txt", RIGHT)
    settings = Settings(home=made / "home")
    with open_new_lake(settings) as lake, open_ledger(settings.ledger_address):
        land_documents(lake, settings, [folder], workers=1)
    return made


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, landed: Path) -> Iterator[World]:
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    settings = Settings(home=tmp_path / "home")
    copy_home(landed / "home", settings)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        yield World(lake, ledger, settings, landed / "papers")


def test_its_questions_and_text_go_and_the_record_stays(world: World) -> None:
    removal = world.remove()
    assert removal.question_count == 2  # type: ignore[attr-defined]
    assert world.lake.query(
        "select document_name, status, error, question_count from documents order by all"
    ).rows() == [("right.txt", "parsed", None, 1), ("wrong.txt", "removed", "Removed: not a paper", 0)]
    assert (world.count("questions"), world.count("document_texts")) == (1, 1)
    before = world.lake.query("select * from landings order by all").rows()
    world.remove()
    assert world.lake.query("select * from landings order by all").rows() == before, "twice is once"


def test_the_original_stays_unless_it_is_purged(world: World) -> None:
    def archived() -> int:
        return sum(path.is_file() for path in world.settings.archive_dir.rglob("*"))

    before = archived()
    world.remove()
    assert archived() == before
    assert [path for path in find_texts(world) if path.suffix == ".parquet"] != []
    world.remove(purge=True)
    assert 0 < archived() < before
    assert find_texts(world) == [], "nor in what the lake was before, or in its catalog"
    assert world.count("questions") == 1


def find_texts(world: World) -> list[Path]:
    """Files of the lake, its catalog among them, in which a text of the wrong paper stands."""
    lake = world.settings.home / "lake"
    files = [path for path in lake.rglob("*") if path.is_file()]
    rows = {path: str(pl.read_parquet(path).rows()) for path in files if path.suffix == ".parquet"}
    return [
        path
        for path in files
        if "月球绕地球转" in rows.get(path, "") or "月球绕地球转".encode() in path.read_bytes()
    ]


def test_the_same_file_is_ingested_again_only_when_asked_for(world: World) -> None:
    world.remove()
    summary = land_documents(world.lake, world.settings, [world.folder], workers=1)
    assert (summary.skipped, world.count("questions")) == (2, 1)
    land_documents(world.lake, world.settings, [world.folder / "wrong.txt"], again=True, workers=1)
    assert world.count("questions") == 3
    assert find_document(world.lake, "wrong.txt")["status"] == "parsed"


def test_undecided_questions_are_withdrawn_from_the_open_batch(world: World) -> None:
    batch_id = world.assign()
    removal = world.remove()
    assert removal.withdrawn_from == (batch_id,)  # type: ignore[attr-defined]
    assert world.items() == 1
    with world.ledger.read() as connection:
        assert len(connection.execute(review_assignments.select()).all()) == 2
    world.remove("right.txt")
    assert list_batches(world.ledger) == [], "a batch without questions is no batch"


def test_a_decision_of_an_annotator_keeps_the_document(world: World) -> None:
    batch_id = world.assign()
    (first, *_) = world.lake.query("select question_uuid from questions where document_name = 'wrong.txt'")[
        "question_uuid"
    ]
    with world.ledger.write() as connection:
        connection.execute(
            insert(reviews).values(
                batch_id=batch_id,
                question_uuid=first,
                annotator="li",
                decision="accept",
                channel="workbook",
                decided_at=now_text(),
            )
        )
    with pytest.raises(GateError, match=batch_id):
        world.remove()
    assert (world.count("questions"), world.items()) == (3, 3)


def test_what_is_in_the_bank_is_not_removed(world: World) -> None:
    row = world.lake.query("select * from questions where document_name = 'wrong.txt' limit 1").to_dicts()[0]
    names = {column.name for column in BANK.own_columns}
    banked = {name: value for name, value in row.items() if name in names}
    land_bank_rows(world.lake, BANK.frame([banked | {"bank_version": 1, "method": "original"}]))
    with pytest.raises(GateError, match="bank version 1") as refusal:
        world.remove()
    assert refusal.value.exit_code == 3
    assert world.count("questions") == 3


def test_a_document_is_found_by_name_or_by_the_beginning_of_its_id(world: World) -> None:
    found = find_document(world.lake, "wrong.txt")
    assert find_document(world.lake, found["document_id"][:8].upper()) == found
    with pytest.raises(UsageError, match="proctor documents list"):
        find_document(world.lake, "nothing.txt")
    (world.folder / "more").mkdir()
    write(world.folder / "more", "wrong.txt", f"{RIGHT}2. 汉承秦制。（√）\n")
    land_documents(world.lake, world.settings, [world.folder / "more"], workers=1)
    with pytest.raises(UsageError, match="fits 2 documents"):
        find_document(world.lake, "wrong.txt")
