"""A planted memory is found, a clean candidate not accused, no completion paid twice."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.model_server import RunningServer, parse_profile, start_model_server
from deployments.model_server.candidates import build_memory
from schemas.errors import UsageError
from schemas.organisations import normalise_organisation
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.contamination.replay import ReplayRequest, ReplaySummary, read_set, replay_sources
from tasks.contamination.report import compare_sources, describe_comparison
from tasks.contamination.spans import BLANK, choose_span
from tasks.models import CallFailed
from tests.fresh import open_new_lake
from tests.local_server import Handler, serve
from tests.tasks.judging.test_unparsed import QUESTIONS, land_session
from tests.tasks.models.simulation import make_model
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.organisations import register_organisations

COUNT = 150
MODELS = (make_model("reader", organisation="R"), make_model("clean", organisation="C"))
STEMS = [
    f"第{number}次会议于{1700 + number}年{'甲乙丙丁'[number % 4]}月召开。"
    for number in range(100, 100 + COUNT)
]


class Room:
    def __init__(
        self, ledger: Ledger, lake: Lake, settings: Settings, server: RunningServer, folder: Path
    ) -> None:
        self.ledger, self.lake, self.settings, self.server = ledger, lake, settings, server
        self.path = folder / "public.csv"
        self.path.write_text("item_id,question\n" + "\n".join(f"q{n},{stem}" for n, stem in enumerate(STEMS)))

    def replay(self, *sources: str, models: Any = MODELS, size: int = COUNT) -> ReplaySummary:
        return asyncio.run(
            replay_sources(
                self.ledger,
                self.lake,
                self.settings,
                ReplayRequest("r1", models, sources or (str(self.path),), size),
            )
        )


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    settings = Settings(home=tmp_path / "home")
    profile = parse_profile({"models": {"reader": {"memorised": 0.4}, "clean": {}, "sim": {}}})
    spans = {span.blanked: span.text for stem in STEMS if (span := choose_span(stem)) is not None}
    assert len(spans) == COUNT
    with (
        open_new_lake(settings) as lake,
        open_ledger(settings.ledger_address) as ledger,
        start_model_server(profile, memory=build_memory(spans)) as server,
    ):
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        yield Room(ledger, lake, settings, server, tmp_path)


def test_a_planted_memory_is_found_in_its_share_and_a_clean_candidate_is_not_accused(room: Room) -> None:
    summary = room.replay()
    assert (summary.questions, summary.without_span, summary.completions) == (
        {"public": COUNT}, 0, 2 * 3 * COUNT,
    )  # fmt: skip
    found = {row["model"]: row for row in compare_sources(room.lake, "r1")["shares"]}
    reader, clean = found["reader"], found["clean"]
    assert reader["recalled_low"] < 0.4 < reader["recalled_high"]
    assert (reader["is_flagged"], clean["is_flagged"]) == (True, False)
    assert clean["recalled_share"] <= 0.02
    shown = room.lake.run_named("contamination_recall")
    assert shown.select("model", "question_count").rows() == [("clean", COUNT), ("reader", COUNT)]
    with pytest.raises(UsageError, match="There is no replay 'r2'"):
        compare_sources(room.lake, "r2")


def test_replaying_again_asks_nothing_and_a_kill_repeats_no_paid_call(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    landed = room.lake.land_together

    def die(batches: Any, **options: Any) -> Any:
        if any(batch.table == "replays" for batch in batches):
            raise KeyboardInterrupt
        return landed(batches, **options)

    monkeypatch.setattr(room.lake, "land_together", die)
    with pytest.raises(KeyboardInterrupt):
        room.replay(size=30)
    asked = sum(room.server.state.requests.values())
    assert asked == 3 * 30
    monkeypatch.setattr(room.lake, "land_together", landed)
    # The spans were kept: another size changes them no more, and that is said.
    again = room.replay(size=99)
    assert (again.completions, again.begun_otherwise) == (2 * 3 * 30, ["public"])
    assert sum(room.server.state.requests.values()) == 2 * 3 * 30
    assert (room.replay().completions, room.replay(size=30).begun_otherwise) == (0, [])
    assert sum(room.server.state.requests.values()) == 2 * 3 * 30
    assert room.lake.query("select count(*) from llm_calls where purpose = 'contamination'").item() == 180


def test_of_the_bank_a_candidate_is_shown_only_what_its_organisation_was_put_before(room: Room) -> None:
    with pytest.raises(UsageError, match="R was put no question of the bank before"):
        room.replay("bank")
    assert sum(room.server.state.requests.values()) == 0
    land_session(room.lake)
    owner = room.lake.query("select distinct organisation from responses").item()
    sitter = make_model("reader", organisation=owner)
    summary = room.replay("bank", str(room.path), models=[sitter])
    assert summary.questions[f"bank ({owner})"] <= QUESTIONS
    compared = compare_sources(room.lake, "r1")
    (pair,) = compared["pairs"]
    assert (pair["model"], pair["source"]) == ("reader", "public")
    assert pair["difference"] < -0.2
    assert pair["p_value"] < 0.01
    assert compared["paired"][0]["candidate_count"] == 1
    assert len(describe_comparison(compared)) == 3
    assert describe_comparison(compared)[0].startswith("reader (simulated), bank: ")


def test_simulated_candidates_are_marked_and_left_out_of_the_test_of_real_ones(room: Room) -> None:
    for source in ("bank", "public"):
        rows: list[dict[str, object]] = [
            {"replay_id": "r1", "model": model, "source": source, "item_id": f"q{item}", "completion": number,
             "is_correct": source == "public" and kind, "completed_text": "x", "is_simulated": kind}
            for model, kind in (("real-1", False), ("real-2", False), ("sim", True))
            for item in range(5)
            for number in (1, 2, 3)
        ]  # fmt: skip
        room.lake.land("replays", f"r1/{source}", get_table("replays").frame(rows), stage="contamination")
    # Sets number their questions alike.
    assert not room.lake.query("from replays").select(get_table("replays").key).is_duplicated().any()
    compared = compare_sources(room.lake, "r1")
    assert {row["model"]: row["is_simulated"] for row in compared["shares"]} == {
        "real-1": False, "real-2": False, "sim": True,
    }  # fmt: skip
    assert [(row["candidate_count"], row["mean_difference"]) for row in compared["paired"]] == [(2, 0.0)]


@pytest.mark.long
def test_of_the_bank_a_candidate_is_shown_what_its_organisation_was_put_under_another_spelling(
    room: Room,
) -> None:
    land_session(room.lake)
    owner = str(room.lake.query("select distinct organisation from responses").item())
    with room.ledger.write() as connection:
        names = {f"sim:{normalise_organisation(owner)}": owner, "sim:thehouse": "The House"}
        meant = {"sim:thehouse": f"sim:{normalise_organisation(owner)}"}
        register_organisations(connection, names, meant)
    for number, name in enumerate((owner.upper(), "The House")):
        sitter = make_model(("reader", "clean")[number], organisation=name)
        assert room.replay("bank", models=[sitter]).questions[f"bank ({name})"] > 0


def test_a_file_of_the_same_name_is_not_taken_for_one_that_was_replayed(room: Room, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "public.csv"
    other.write_text("item_id,question\nq1,A question from 2017 that stands elsewhere.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="Two sources are named 'public'"):
        room.replay(str(room.path), str(other))
    with pytest.raises(UsageError, match="Two sources are named 'bank'"):
        room.replay(str(other.rename(tmp_path / "bank.csv")))
    assert sum(room.server.state.requests.values()) == 0
    room.replay(size=5)
    (tmp_path / "bank.csv").rename(other)
    with pytest.raises(
        UsageError, match="r1 has questions under the name 'public' that are not in this public"
    ):
        room.replay(str(other))
    assert room.replay(str(room.path), str(room.path), size=5).completions == 0


def test_a_replay_goes_on_with_questions_whose_ids_were_read_as_numbers(room: Room) -> None:
    room.path.write_text(room.path.read_text("utf-8").replace("\nq", "\n00"), encoding="utf-8")
    room.replay(models=MODELS[:1], size=5)
    kept = room.lake.query("select * exclude (landing_unit) from replay_spans")
    as_numbers = kept.with_columns(item_id=kept["item_id"].cast(pl.Int64).cast(pl.String))
    room.lake.land("replay_spans", "r1/public/all", as_numbers)
    assert room.replay(models=MODELS[1:], size=5).questions == {"public": 5}


def test_questions_whose_ids_begin_anew_with_each_subject_are_all_replayed(room: Room) -> None:
    # The first one is named as the third would be, whose id repeats.
    names = ("0/3", "0", "0", "1", "2", "3", "4", "0", "1", "2")
    lines = [f"{name},{stem}" for name, stem in zip(names, STEMS[:10], strict=True)]
    room.path.write_text("item_id,question\n" + "\n".join(lines), encoding="utf-8")
    summary = room.replay(models=MODELS[:1])
    assert (summary.questions, summary.completions) == ({"public": 10}, 30)


def test_options_are_texts_in_whatever_form_a_set_has_them(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"

    def read(*offered: object) -> list[object]:
        lines = [
            json.dumps({"item_id": place, "question": f"What {place}?", "options": options})
            for place, options in enumerate(offered)
        ]
        path.write_text("\n".join(lines))
        return [row["options"] for row in read_set(path, {})]

    two = [{"label": "A", "text": "copper"}, {"label": "B", "text": "(B) tin"}]
    assert read(["copper", "(B) tin"]) == [["copper", "tin"]]
    assert read(two) == [["copper", "tin"]]
    assert read({"text": ["copper", "tin"], "label": ["A", "B"]}) == [["copper", "tin"]]
    assert read({"A": "copper", "B": "tin", "C": "zinc"}, {"A": "gold", "B": "lead"}) == [
        ["copper", "tin", "zinc"],
        ["gold", "lead"],
    ]
    assert [row["item_id"] for row in read_set(path, {})] == ["0", "1"]
    with pytest.raises(UsageError, match=r"set\.jsonl, row 1: an option is no text"):
        read([["copper"], ["tin"]])


def test_one_call_that_fails_wastes_none_that_are_under_way(room: Room) -> None:
    answered = []

    class OnceRefusing(Handler):
        def do_POST(self) -> None:
            asked = str(self.read_json()["messages"])
            answered.append(asked)
            if len(answered) == 1:
                self.send(401, {})
                return
            time.sleep(0.2)
            self.send(200, {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]})

    with serve(OnceRefusing) as port:
        model = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        with pytest.raises(CallFailed, match="401"):
            room.replay(models=[model], size=10)
        assert room.replay(models=[model], size=10).completions == 30
    # Each is asked once, and the one that was refused again.
    assert len(answered) == 31


def test_of_a_model_that_fails_nothing_more_is_sent_while_others_are_asked(room: Room) -> None:
    sent = []

    class Unpaid(Handler):
        def do_POST(self) -> None:
            sent.append(self.read_json())
            self.send(401, {})

    with serve(Unpaid) as port:
        model = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        with pytest.raises(CallFailed, match="401"):
            room.replay(models=[model, MODELS[1]], size=50)
    assert len(sent) <= 2 * room.settings.call_concurrency
    assert room.lake.query("select distinct model from replays").rows() == [("clean",)]


def test_a_question_that_an_endpoint_does_not_take_is_quarantined_and_the_others_land(room: Room) -> None:
    (refused,) = (span.text for stem in STEMS[:1] if (span := choose_span(stem)) is not None)
    room.path.write_text("".join(room.path.read_text("utf-8").splitlines(keepends=True)[:41]), "utf-8")

    class Refusing(Handler):
        def do_POST(self) -> None:
            asked = str(self.read_json()["messages"])
            if STEMS[0].replace(refused, "") in asked.replace(BLANK, ""):
                self.send(400, {"error": {"code": "too_long", "message": asked}})
                return
            self.send(200, {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]})

    with serve(Refusing) as port:
        model = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        found = room.replay(models=[model])
        again = room.replay(models=[model])
    assert (found.completions, found.refused) == (3 * 39, 3)
    assert (again.completions, again.refused) == (0, 0)
    kept = room.lake.query("select rule, row_json from quarantine order by row_json")
    assert kept["rule"].unique().to_list() == ["endpoint_takes_the_question"]
    assert [json.loads(one)["error"] for one in kept["row_json"]] == 3 * ["400 too_long"]
    assert room.lake.run_named("landings_count_their_refusals").is_empty()
    (share,) = compare_sources(room.lake, "r1")["shares"]
    assert share["question_count"] == 39


def test_an_endpoint_that_takes_next_to_nothing_is_at_fault_itself(room: Room) -> None:
    class Refusing(Handler):
        def do_POST(self) -> None:
            self.send(400, {})

    with serve(Refusing) as port:
        model = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        with pytest.raises(CallFailed, match="400"):
            room.replay(models=[model, MODELS[1]], size=5)
    # Nor does it stop others.
    assert room.lake.query("select distinct model from replays").rows() == [("clean",)]
