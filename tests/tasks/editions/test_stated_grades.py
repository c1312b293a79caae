"""The grade that an operator states of an edition, by what his witnesses were told."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.editions import grades
from tasks.editions.grades import Attestation, foresee_grade, grade_editions, keep_grades
from tasks.exam.public.draws import find_moment
from tasks.exam.public.log import name_public_folder
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import PublicStep, add_public_entry, list_public_entries
from warehouse.ledger.engine.opening import open_ledger

EDITION = "run-2025-06/1"
QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
ROUND: dict[str, Any] = {"source": "drand quicknet, round 657413", "chain": QUICKNET, "round": 657413}
TYPED = {"source": "the lottery of Monday"}
COMMIT, DRAW, PUBLISHED = 1, 2, 3


def make_entries(beacon: dict[str, Any] | None) -> list[PublicStep]:
    about = {"run": "run-2025-06"}
    return [
        PublicStep(COMMIT, "", "commit", {**about, "beacon": beacon}),
        PublicStep(DRAW, "", "draw", {**about, "beacon": beacon}),
        PublicStep(PUBLISHED, "", "edition", {**about, "edition": EDITION}),
    ]


def tell(witness: str, number: int, *, by: str = "command", seconds: int = -60) -> dict[str, Any]:
    """A head that a witness was given, so many seconds after the round was given out."""
    moment = find_moment(ROUND)
    assert moment is not None
    at = (moment + timedelta(seconds=seconds)).isoformat()
    return {"witness": witness, "by": by, "number": number, "given_at": at}


def tell_both(number: int, **how: Any) -> list[dict[str, Any]]:
    return [tell(name, number, **how) for name in ("one", "two")]


@pytest.mark.parametrize(
    ("beacon", "told", "grade"),
    [
        (ROUND, [], "self-attested"),
        (ROUND, [tell("one", PUBLISHED), tell("one", PUBLISHED)], "self-attested"),
        (None, tell_both(PUBLISHED), "witnessed"),
        (TYPED, tell_both(COMMIT) + tell_both(PUBLISHED), "witnessed"),
        (ROUND, tell_both(COMMIT) + tell_both(PUBLISHED), "witnessed + beacon"),
        # A file has no clock of its own, and whoever was told after the round may have been told of the better of two draws.
        (ROUND, tell_both(COMMIT, by="file") + tell_both(PUBLISHED), "witnessed"),
        (ROUND, tell_both(COMMIT, seconds=1) + tell_both(PUBLISHED), "witnessed"),
        (ROUND, tell_both(COMMIT), "self-attested"),
    ],
)
def test_the_grade_follows_from_what_two_witnesses_were_told_and_when(
    beacon: dict[str, Any] | None, told: list[dict[str, Any]], grade: str
) -> None:
    assert grade_editions(make_entries(beacon), told)[EDITION].grade == grade


@pytest.fixture
def ledger(settings: Settings, published: Lake) -> Any:
    with open_ledger(settings.ledger_address) as opened:
        with opened.write() as connection:
            for entry in make_entries(ROUND):
                add_public_entry(connection, entry.kind, entry.body)
        name_public_folder(settings).mkdir(parents=True, exist_ok=True)
        yield opened


def find_places(ledger: Ledger) -> tuple[int, int]:
    """Numbers of the commitment and of the edition in a log that begins with its key."""
    with ledger.read() as connection:
        entries = list_public_entries(connection, ("commit", "edition"))
    return entries[0].number, entries[1].number


def write_told(settings: Settings, *rows: dict[str, Any], spoilt: bytes = b"") -> None:
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    (name_public_folder(settings) / "witnesses.jsonl").write_bytes(spoilt + lines)


def read_landed(lake: Lake) -> list[tuple[Any, ...]]:
    return lake.read("graded_editions").rows()


def test_it_is_stated_and_landed_once_and_follows_what_comes_later(
    settings: Settings, published: Lake, ledger: Ledger
) -> None:
    assert keep_grades(ledger, settings, published) == {
        EDITION: Attestation("self-attested", 0, ROUND["source"])
    }
    assert read_landed(published) == []
    commit, edition = find_places(ledger)
    write_told(settings, *tell_both(commit), *tell_both(edition))
    keep_grades(ledger, settings, published)
    assert read_landed(published) == [(EDITION, "witnessed + beacon", 2, ROUND["source"])]
    stated = (name_public_folder(settings) / "grades.json").read_bytes()
    before = published.query("SELECT count(*) FROM landings").item()
    keep_grades(ledger, settings, published)
    assert (name_public_folder(settings) / "grades.json").read_bytes() == stated
    assert published.query("SELECT count(*) FROM landings").item() == before
    # A third one changes no grade, and stands in the row all the same.
    write_told(settings, *tell_both(commit), *tell_both(edition), tell("three", edition))
    keep_grades(ledger, settings, published)
    assert read_landed(published) == [(EDITION, "witnessed + beacon", 3, ROUND["source"])]


def test_a_kill_between_lake_and_file_is_mended_by_the_next_call(
    settings: Settings, published: Lake, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_told(settings, *tell_both(find_places(ledger)[1]))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(grades, "write_whole", die)
        with pytest.raises(KeyboardInterrupt):
            keep_grades(ledger, settings, published)
    assert not (name_public_folder(settings) / "grades.json").exists()
    keep_grades(ledger, settings, published)
    assert (
        json.loads((name_public_folder(settings) / "grades.json").read_text())[EDITION]["grade"]
        == "witnessed"
    )
    assert [row[:2] for row in read_landed(published)] == [(EDITION, "witnessed")]


def test_lines_that_say_nothing_are_passed_over_and_a_spoilt_file_is_written_again(
    settings: Settings, published: Lake, ledger: Ledger
) -> None:
    edition = find_places(ledger)[1]
    spoilt: list[dict[str, Any]] = [
        {"witness": "one", "number": "3", "given_at": "2026-01-01T00:00:00+00:00"},
        {"witness": "one", "number": edition, "given_at": "yesterday"},
        {"witness": "one", "number": edition, "given_at": "2026-01-01T00:00:00"},
        {"witness": ["one"], "number": edition, "given_at": "2026-01-01T00:00:00+00:00"},
    ]
    (name_public_folder(settings) / "grades.json").write_bytes(b"\xff\xfe")
    write_told(settings, *spoilt, tell("one", edition), spoilt=b"\xff{\n[]\n")
    assert keep_grades(ledger, settings, published)[EDITION] == Attestation(
        "self-attested", 1, ROUND["source"]
    )
    assert EDITION in json.loads((name_public_folder(settings) / "grades.json").read_text())


def test_a_plan_says_which_grade_is_to_be_had_and_what_the_next_takes(
    settings: Settings, ledger: Ledger
) -> None:
    assert foresee_grade(ledger, settings, "another")[0] == "self-attested"
    programs = settings.model_copy(update={"witnesses": ("command:/bin/true 1", "command:/bin/true 2")})
    grade, takes = foresee_grade(ledger, programs, "another")
    assert (grade, "--beacon drand" in takes) == ("witnessed", True)
    assert foresee_grade(ledger, programs, "run-2025-06") == ("witnessed + beacon", "")
