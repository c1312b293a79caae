"""A paper that was read badly is held whole until somebody releases it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.ingest.documents import IngestOptions, make_options, parse_document
from tasks.ingest.landing import land_documents
from tasks.ingest.removal import release_document
from tasks.review import count_unreviewed
from tests.fresh import open_new_lake
from tests.tasks.ingest.builders import write
from tests.tasks.ingest.finnish_paper import write_paper
from tests.warm import WarmProcess
from warehouse.lake import Lake, open_lake

GOOD = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n3. 太阳绕地球转。（×）\n"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "good.txt", GOOD)
    write(folder, "bad.txt", write_paper())
    return folder


def read_waiting(lake: Lake) -> list[str]:
    names: list[str] = lake.read("unreviewed_questions")["document_name"].to_list()
    assert count_unreviewed(lake) == len(names)
    return names


def test_a_held_paper_is_landed_whole_and_nothing_of_it_waits_for_review(
    papers: Path, lake: Lake, settings: Settings
) -> None:
    counts = land_documents(lake, settings, [papers]).as_counts()
    assert counts["documents"] == {"parsed": 1, "held": 1}
    assert (counts["questions"], counts["question_count"], counts["held_questions"]) == (
        {"true_false": 3},
        3,
        2,
    )
    held: Any = counts["held"]
    assert [one["document"] for one in held] == ["papers/bad.txt"]
    assert "announces 7 questions" in held[0]["reason"]
    assert counts["problems"] == []
    landed = lake.query("select document_name, count(*) as n from questions group by all order by 1")
    assert landed.rows() == [("bad.txt", 2), ("good.txt", 3)]
    assert read_waiting(lake) == ["good.txt"] * 3
    assert lake.query("select count(*) as n from current_questions")["n"].item() == 3


def test_a_release_lets_the_paper_go_on_and_holds_when_its_bytes_are_read_again(
    papers: Path, lake: Lake, settings: Settings
) -> None:
    land_documents(lake, settings, [papers])
    before = lake.query("select * exclude (ingested_at) from documents where document_name = 'bad.txt'")
    first = release_document(lake, "bad.txt", "looked at it", "kim")
    second = release_document(lake, "bad.txt", "another reason", "lee")
    assert (first.is_new, second.is_new, first.question_count) == (True, False, 2)
    after = lake.query("select * exclude (ingested_at) from documents where document_name = 'bad.txt'")
    assert after.equals(before)  # a release is a row of its own
    assert lake.query("select released_by, reason from document_releases").rows() == [("kim", "looked at it")]
    assert read_waiting(lake) == ["bad.txt"] * 2 + ["good.txt"] * 3
    counts = land_documents(lake, settings, [papers], again=True).as_counts()
    assert (counts["documents"], counts["held"]) == ({"parsed": 1, "released": 1}, [])
    assert read_waiting(lake) == ["bad.txt"] * 2 + ["good.txt"] * 3


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        ("good.txt", "no need", "is not held: its status is parsed"),
        ("bad.txt", "  ", "Say why"),
        ("none.txt", "why not", "There is no document"),
    ],
)
def test_only_a_held_paper_can_be_released_and_not_without_a_reason(
    papers: Path, lake: Lake, settings: Settings, name: str, reason: str, message: str
) -> None:
    land_documents(lake, settings, [papers])
    with pytest.raises(UsageError, match=message):
        release_document(lake, name, reason, "kim")
    assert lake.query("select count(*) as n from document_releases")["n"].item() == 0


def test_the_settings_say_when_a_paper_is_held(papers: Path) -> None:
    lenient = Settings(hold_least_right=0, hold_most_broken=1)
    strict = Settings(hold_least_right=1)
    for settings, status in ((lenient, "parsed"), (Settings(), "held"), (strict, "held")):
        parsed = parse_document(papers / "bad.txt", make_options(settings=settings))
        assert parsed.document["status"] == status, settings
    assert parse_document(papers / "good.txt", make_options(settings=strict)).document["status"] == "held"


def test_no_question_of_a_held_paper_is_sure(papers: Path) -> None:
    held = parse_document(papers / "bad.txt", IngestOptions())
    read = parse_document(
        papers / "bad.txt", make_options(settings=Settings(hold_least_right=0, hold_most_broken=1))
    )
    assert max(row["parse_confidence"] for row in held.questions) <= 0.6
    assert [row["stem"] for row in held.questions] == [row["stem"] for row in read.questions]


RELEASE = """
import sys
from pathlib import Path
from schemas.settings import Settings
from tasks.ingest.removal import release_document
from warehouse.lake.store import open_lake

settings = Settings(home=Path(sys.argv[1]))
print("ready", flush=True)
with open_lake(settings) as lake:
    for name in sys.argv[2:]:
        release_document(lake, name, "looked at it", "kim")
        print(name, flush=True)
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_killed_release_is_whole_or_not_there(tmp_path: Path, settings: Settings, warm_python: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    names = [f"{number}.txt" for number in range(12)]
    for number, name in enumerate(names):
        write(folder, name, write_paper() + f"\n{number}")
    with open_new_lake(settings) as lake:
        assert land_documents(lake, settings, [folder]).documents["held"] == len(names)
    acknowledged: set[str] = set()
    for delay in (0.4, 0.8):
        command = [warm_python, "-c", RELEASE, str(settings.home), *names]
        process = WarmProcess(command, stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(delay)
            process.kill()
            acknowledged |= set(process.stdout.read().split())
        with open_lake(settings, read_only=True) as lake:
            released = lake.query(
                "select document_name from documents join document_releases using (document_id)"
            )["document_name"].to_list()
        assert acknowledged <= set(released)
        assert len(released) == len(set(released))
    with open_lake(settings) as lake:
        for name in names:
            release_document(lake, name, "looked at it", "kim")
        assert lake.query("select count(*) as n from document_releases")["n"].item() == len(names)
        assert lake.query("select count(*) as n from held_documents")["n"].item() == 0


ABOVE = """Define each of the following terms in one sentence
The span of a bridge over a river
The keel of a ship in dry dock
The pier under a road of stone
Explain how an arch carries the weight of a wall
Describe the way of a stone from quarry to tower
"""


@pytest.mark.parametrize(
    ("above", "status"), [("", "parsed"), (ABOVE, "held")], ids=["nothing", "terms and tasks"]
)
def test_a_paper_without_answers_is_held_where_a_section_above_its_questions_was_not_read(
    tmp_path: Path, above: str, status: str
) -> None:
    asked = "".join(
        f"{number}. Which is {what}?\nA. oak\nB. iron\nC. glass\nD. clay\n"
        for number, what in enumerate(("of wood", "a metal", "seen through", "baked"), start=1)
    )
    paper = tmp_path / "paper.txt"
    paper.write_text(f"Building\n\n{above}\nSection B: Multiple choice\n{asked}", "utf-8")
    assert parse_document(paper, make_options()).document["status"] == status
