"""A month with questions about pictures, where alone the code stands; through both doors."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image, ImageDraw
from sqlalchemy import update

from deployments.exam_api import create_app
from deployments.model_server import build_answer_key, parse_profile, start_model_server
from schemas.errors import ExamError, StoreError
from tasks.bank import find_question
from tasks.exam import month, shown_pictures
from tasks.exam.http_calls import DoorError, HttpCaller
from tasks.exam.outside.answering import EndpointAnswerer, make_own_model
from tasks.exam.outside.credentials import Credentials
from tasks.exam.outside.sitting import OutsideReport, OutsideSitter
from tasks.exam.outside.state import SittingState
from tasks.exam.plan.bank import index_bank
from tasks.exam.public import verifier
from tasks.exam.public.bank.bank_rows import LakeRows
from tasks.exam.public.bank.blinding import commit_question
from tasks.exam.public.bank.questions import disclose_question
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tasks.exam.shown_pictures import share_pictures
from tasks.exam.sitting import SittingReport, sit_sessions
from tasks.models import ModelClient
from tasks.operations.reconcile import reconcile
from tasks.questions.pictures import name_picture
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.world import (
    DISCIPLINES,
    SECRET,
    World,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    plan_wished,
    publish,
)
from tests.warehouse.bank_rows import BANK, land_bank_rows
from warehouse.lake import open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import access_log, sessions
from warehouse.ledger.exam import sittings

CODES = "QKZXVJWPHN"


def draw_code(code: str) -> bytes:
    image = Image.new("RGB", (160, 80), "white")
    ImageDraw.Draw(image).text((30, 20), code, fill="black", font_size=36)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def keep_picture(archive: Path, data: bytes) -> str:
    sha256 = hashlib.sha256(data).hexdigest()
    path = name_picture(archive, sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return sha256


def make_picture_bank(archive: Path) -> pl.DataFrame:
    """A bank in which every lineage of Law asks for the code of a picture."""
    rows = []
    for number, row in enumerate(make_bank(12, variants=0).iter_rows(named=True)):
        row = dict(row)
        if row["discipline"] == "Law":
            code = f"{CODES[number % 10]}{number}"
            sha256 = keep_picture(archive, draw_code(code))
            row |= {
                "question_type": "short_answer",
                "stem": f"Which code does [picture:1] show in case {number}?",
                "options": [],
                "answer": [code],
                "pictures": [{"number": 1, "sha256": sha256, "place": "stem"}],
            }
        else:
            row["answer"] = ["B"]
        rows.append(row)
    return BANK.frame(rows)


PROFILE = {
    "seed": "test",
    "models": {"alpha": {"sees_pictures": True, "accuracy": 1.0}, "rho": {"accuracy": 1.0}},
}


@pytest.fixture
def settings(tmp_path: Path) -> Any:
    return make_settings(tmp_path / "home", picture_share=1.0)


def read_responses(ledger: Ledger, run_id: str) -> list[dict[str, Any]]:
    with ledger.read() as connection:
        names = {row.session_id: row.model for row in sittings.list_sessions(connection, run_id=run_id)}
        rows = read_response_rows(connection, list(names))
    return [{**row, "model": names[row["session_id"]]} for row in rows]


def has_code(row: dict[str, Any], bank: pl.DataFrame) -> bool:
    """Whether the response has what the picture shows."""
    (answer,) = bank.filter(pl.col("stem") == row["content"]["stem"])["answer"][0]
    return answer in (row["response"] or "")


def test_in_house_who_sees_reads_the_code_and_who_does_not_cannot(
    ledger: Ledger, tmp_path: Path, settings: Any
) -> None:
    bank = make_picture_bank(settings.archive_dir)
    with start_model_server(parse_profile(PROFILE), build_answer_key(bank)) as server:
        alpha = replace(make_model("alpha", is_simulated=True, base_url=server.url), sees_pictures=True)
        rho = make_model("rho", is_simulated=True, base_url=server.url, roles=("reference",))
        registry = make_registry(alpha, rho)
        plan = publish(ledger, settings, registry, bank, is_simulated=True)

        async def sit() -> SittingReport:
            async with ModelClient(ledger, settings) as client:
                return await sit_sessions(ledger, settings, registry, client, plan.run_id)

        report = asyncio.run(sit())
    assert (report.is_complete, report.is_run_closed, report.failures) == (True, True, [])
    asked = [row for row in read_responses(ledger, plan.run_id) if "pictures" in row["content"]]
    assert sorted((row["model"], has_code(row, bank)) for row in asked) == [
        ("alpha", True),
        ("alpha", True),
        ("rho", False),
        ("rho", False),
    ]
    assert {(row["model"], row["prompt_version"]) for row in asked} == {
        ("alpha", "1/zero_shot/short_answer/en/pictures"),
        ("rho", "1/zero_shot/short_answer/en/alt_text"),
    }
    others = [row for row in read_responses(ledger, plan.run_id) if "pictures" not in row["content"]]
    assert {row["prompt_version"] for row in others} == {"1/zero_shot/multiple_choice/en"}


def sit_outside(url: str, world: World, folder: Path, answer: Any) -> OutsideReport:
    session_id = world.sessions()[0]["session_id"]

    async def run() -> OutsideReport:
        async with HttpCaller(url, patience_s=5) as caller:
            with SittingState(folder, url, session_id) as state:
                shown = Credentials(token=world.token(session_id))
                return await OutsideSitter(caller, shown, session_id, state, answer).sit()

    return asyncio.run(run())


@pytest.fixture
def outside(ledger: Ledger, tmp_path: Path, settings: Any) -> Iterator[World]:
    bank = make_picture_bank(settings.archive_dir)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, bank, candidates=[], outside=["alpha"])
    yield World(ledger, settings, registry, bank, plan, now=time.time())


def test_from_outside_pictures_come_with_their_question_and_its_lease(outside: World, tmp_path: Path) -> None:
    with (
        start_model_server(parse_profile(PROFILE), build_answer_key(outside.bank)) as server,
        serve_app(create_app(outside.settings, ledger=outside.ledger)) as url,
    ):
        own = make_own_model("alpha", server.url, None, {"max_tokens": 300}, sees_pictures=True)
        report = sit_outside(url, outside, tmp_path / "state", EndpointAnswerer(own, timeout_s=30))
    assert report.is_finished
    asked = [
        row for row in read_responses(outside.ledger, outside.plan.run_id) if "pictures" in row["content"]
    ]
    mine = [row for row in asked if row["model"] == "alpha"]
    assert [has_code(row, outside.bank) for row in mine] == [True, True]
    assert {row["prompt_version"] for row in mine} == {"1/zero_shot/short_answer/en/pictures"}


def test_an_exam_api_without_the_archive_has_what_candidates_see_and_nothing_else(
    ledger: Ledger, tmp_path: Path
) -> None:
    folder = tmp_path / "exam-pictures"
    settings = make_settings(tmp_path / "home", picture_share=1.0, exam_pictures=folder)
    key = {"number": 2, "sha256": keep_picture(settings.archive_dir, draw_code("KEY")), "place": "answer"}
    rows = make_picture_bank(settings.archive_dir).to_dicts()
    bank = BANK.frame(
        [row | {"pictures": [*row["pictures"], key]} if row["pictures"] else row for row in rows]
    )
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    # As the units of the owner's hosts have it; the exam API is another user there.
    before = os.umask(0o077)
    try:
        plan = publish(ledger, settings, registry, bank, candidates=[], outside=["alpha"])
        assert share_pictures(ledger, settings) == []
    finally:
        os.umask(before)
    world = World(ledger, settings, registry, bank, plan, now=time.time())
    shown = {
        picture["sha256"]
        for row in read_responses(ledger, plan.run_id)
        for picture in row["content"].get("pictures", ())
    }
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.stem for path in kept} == shown and len(shown) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o644}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, kept[0].parent)} == {0o755}

    # What was restored without the copies has them again before a flow does anything.
    kept[0].unlink()
    kept[1].unlink()
    name_picture(settings.archive_dir, kept[1].stem).rename(tmp_path / "lost")
    with open_lake(settings) as lake:
        reconcile(ledger, lake)
        assert [path.exists() for path in kept] == [True, False]
        (tmp_path / "lost").rename(name_picture(settings.archive_dir, kept[1].stem))
        reconcile(ledger, lake)
    elsewhere = make_settings(tmp_path / "elsewhere", secrets=settings.secrets_path, exam_pictures=folder)
    with (
        start_model_server(parse_profile(PROFILE), build_answer_key(bank)) as server,
        serve_app(create_app(elsewhere, ledger=ledger)) as url,
    ):
        own = make_own_model("alpha", server.url, None, {"max_tokens": 300}, sees_pictures=True)
        assert sit_outside(url, world, tmp_path / "state", EndpointAnswerer(own, timeout_s=30)).is_finished
    asked = [row for row in read_responses(ledger, plan.run_id) if "pictures" in row["content"]]
    assert [has_code(row, bank) for row in asked if row["model"] == "alpha"] == [True, True]


def test_copies_of_pictures_go_when_the_last_seat_that_shows_them_is_closed(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "exam-pictures"
    settings = make_settings(tmp_path / "home", picture_share=1.0, exam_pictures=folder)
    bank = make_picture_bank(settings.archive_dir)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, bank, candidates=[], outside=["alpha"])
    share_pictures(ledger, settings)
    copies = {path for path in folder.rglob("*") if path.is_file()}
    assert len(copies) == 2
    (folder / "note.txt").write_text("not ours")

    first, *rest = [session.session_id for session in plan.sessions]
    close_sessions(ledger, rest)
    share_pictures(ledger, settings)
    assert set(folder.rglob("*.picture")) == copies, "a seat is open still"

    # A run that is planned while the copies go has them afterwards.
    close_sessions(ledger, [first])
    remove = shown_pictures._remove

    def open_meanwhile(gone: list[Path]) -> None:
        close_sessions(ledger, [first], status="open")
        remove(gone)

    monkeypatch.setattr(shown_pictures, "_remove", open_meanwhile)
    share_pictures(ledger, settings)
    assert set(folder.rglob("*.picture")) == copies
    monkeypatch.undo()

    close_sessions(ledger, [first])
    with open_lake(settings) as lake:
        reconcile(ledger, lake)
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["note.txt"]
    assert all(name_picture(settings.archive_dir, path.stem).exists() for path in copies)
    # The archive itself, named a second time, is left alone.
    (tmp_path / "mounted").symlink_to(settings.archive_dir)
    itself = settings.model_copy(update={"exam_pictures": tmp_path / "mounted"})
    assert share_pictures(ledger, itself) == []
    assert all(name_picture(settings.archive_dir, path.stem).exists() for path in copies)


def test_pictures_are_copied_when_the_run_is_planned_and_by_the_next_flow_where_they_could_not_be(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "exam-pictures"
    settings = make_settings(tmp_path / "home", picture_share=1.0, exam_pictures=folder)
    bank = make_picture_bank(settings.archive_dir)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = plan_wished(ledger, settings, registry, bank, candidates=[], outside=["alpha"])
    monkeypatch.setattr(month, "check_reachable", lambda *_: None)
    folder.write_text("a file is in the way")
    with pytest.raises(StoreError, match=rf"Run {plan.run_id} is planned.*PROCTOR_EXAM_PICTURES"):
        month.publish_month(ledger, settings, plan)
    folder.unlink()
    with open_lake(settings) as lake:
        reconcile(ledger, lake)
    assert len(list(folder.rglob("*.picture"))) == 2


def close_sessions(ledger: Ledger, session_ids: list[str], *, status: str = "closed") -> None:
    with ledger.write() as connection:
        connection.execute(
            update(sessions).where(sessions.c.session_id.in_(session_ids)).values(status=status)
        )


def read_refused(world: World, session_id: str | None) -> list[Any]:
    """What the audit log has of refusals in a session, or in none."""
    refused = access_log.select().where(access_log.c.http_status != 200)
    with world.ledger.read() as connection:
        return list(
            connection.execute(refused.where(access_log.c.session_id.is_not_distinct_from(session_id)))
        )


def test_a_picture_is_handed_out_with_its_question_alone(outside: World, tmp_path: Path) -> None:
    session_id = outside.sessions()[0]["session_id"]
    refusals: list[str] = []
    seen: list[int] = []
    sitter: Any = None

    async def look(question: dict[str, Any]) -> dict[str, Any]:
        seen.append(len(question.get("pictures", ())))
        for place in (question["seq"], question["seq"] - 1, question["seq"] + 1):
            number = 9 if place == question["seq"] else 1
            try:
                await sitter._call("GET", f"/questions/{place}/pictures/{number}", as_bytes=True)
            except ExamError as error:
                refusals.append(error.code)
        return {"response": "seen"}

    async def run() -> None:
        nonlocal sitter
        async with HttpCaller(url, patience_s=5) as caller:
            with SittingState(tmp_path / "state", url, session_id) as state:
                shown = Credentials(token=outside.token(session_id))
                sitter = OutsideSitter(caller, shown, session_id, state, look)
                await sitter.sit()

    with serve_app(create_app(outside.settings, ledger=outside.ledger)) as url:
        asyncio.run(run())
    assert sorted(seen) == [0, 0, 0, 0, 1, 1]
    # Of a question that is answered, or not handed out yet, there is no picture.
    assert refusals.count("no_such_picture") == 6
    assert set(refusals) == {"no_such_picture", "not_pending", "request_invalid"}
    told = Counter(row.code for row in read_refused(outside, session_id))
    assert told == Counter(code for code in refusals if code != "request_invalid")


def test_a_changed_picture_is_refused_at_every_door(
    outside: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row, *_) = outside.bank.filter(pl.col("discipline") == "Law").iter_rows(named=True)
    for held in outside.bank.filter(pl.col("discipline") == "Law")["pictures"]:
        name_picture(outside.settings.archive_dir, held[0]["sha256"]).write_bytes(draw_code("OTHER"))

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"response": "anything"}

    with serve_app(create_app(outside.settings, ledger=outside.ledger)) as url:
        with pytest.raises(ExamError) as caught:
            sit_outside(url, outside, tmp_path / "state", answer)
        assert caught.value.code == "picture_lost"
        (told,) = read_refused(outside, None)
        assert (told.code, told.target) == ("picture_lost", outside.sessions()[0]["session_id"])
        # Changed on its way: the client holds it to the hash in the question.
        monkeypatch.setattr(
            "deployments.exam_api.session_routes.load_bytes", lambda folder, sha256: draw_code("OTHER")
        )
        with pytest.raises(DoorError, match="is not the one that the question names"):
            sit_outside(url, outside, tmp_path / "state", answer)
    registry = make_registry(make_model("beta"), make_model("rho", roles=("reference",)))
    with pytest.raises(StoreError, match="is not the picture that its name says"):
        publish(outside.ledger, outside.settings, registry, outside.bank, repetition="again")
    assert row["pictures"] is not None


def test_no_question_with_a_picture_is_drawn_unless_a_share_is_given(tmp_path: Path) -> None:
    bank = make_picture_bank(tmp_path)
    plain = bank.filter(pl.col("discipline") != "Law")
    first = index_bank(bank, DISCIPLINES, SECRET, picture_share=0.0)
    assert [first.count(name) for name in DISCIPLINES] == [12, 0, 12]
    without = index_bank(plain, DISCIPLINES, SECRET)
    assert list(first.names) == list(without.names)
    mixed = bank.with_columns(pl.lit("History").alias("discipline"))
    counts = {
        share: index_bank(mixed, DISCIPLINES, SECRET, picture_share=share).count("History")
        for share in (0.0, 0.1, 0.2, 0.5, 1.0)
    }
    assert counts == {0.0: 24, 0.1: 26, 0.2: 30, 0.5: 36, 1.0: 36}


def test_a_swapped_picture_is_another_commitment_and_a_question_without_has_its_old_one(
    tmp_path: Path,
) -> None:
    bank = make_picture_bank(tmp_path)
    (with_picture, *_) = bank.filter(pl.col("discipline") == "Law").iter_rows(named=True)
    (without, *_) = bank.filter(pl.col("discipline") == "History").iter_rows(named=True)
    swapped = {**with_picture, "pictures": [{**with_picture["pictures"][0], "sha256": "0" * 64}]}
    assert commit_question(SECRET, with_picture) != commit_question(SECRET, swapped)
    before = {name: value for name, value in without.items() if name != "pictures"}
    assert commit_question(SECRET, without) == commit_question(SECRET, before)


def test_a_disclosed_picture_is_published_and_the_verifier_finds_a_swapped_one(
    ledger: Ledger, settings: Any
) -> None:
    bank = make_picture_bank(settings.archive_dir)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    public = settings.home / "public"
    with open_lake(settings) as lake:
        land_bank_rows(lake, bank)
        rows: Any = LakeRows(lake)
        plan = publish(ledger, settings, registry, rows, seed=None)
        answer_run(ledger, plan.run_id)
        disclose_closed_runs(ledger, settings)
        drawn = {row["content"]["stem"] for row in read_responses(ledger, plan.run_id)}
        asked = bank.filter(pl.col("stem").is_in(sorted(drawn)), pl.col("discipline") == "Law")
        entry = find_question(lake, asked["question_uuid"][0])
        disclose_question(ledger, lake, settings, entry, "asked for", is_leaked=True)
    sha256 = asked["pictures"][0][0]["sha256"]
    file = public / "questions" / f"{sha256}.picture"
    kept = file.read_bytes()

    def find_faults() -> set[tuple[str, str]]:
        faults = verifier.verify(str(public)).faults
        # No head is signed here.
        return {(fault[0], fault[1].rpartition(", ")[2]) for fault in faults if "heads" not in str(fault)}

    assert hashlib.sha256(kept).hexdigest() == sha256
    assert find_faults() == set()
    assert not any("named by no entry" in note for note in verifier.verify(str(public)).notes)
    file.write_bytes(draw_code("OTHER"))
    assert find_faults() == {("file_changed", f"questions/{sha256}.picture")}
    file.unlink()
    assert find_faults() == {("file_missing", f"questions/{sha256}.picture")}
