"""A model's help with splitting, over real HTTP.

Nothing that the paper does not say gets in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.ingest import assistance
from tasks.ingest.assistance import AssistanceSummary, Assistant, read_assist_model
from tasks.ingest.confidence.judging import write_reading
from tasks.ingest.contracts import Breach, Checked
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_document
from tasks.ingest.landing import land_documents
from tasks.ingest.located_questions import find_stretches, locate_questions, merge_rows
from tasks.models.budget.reservations import SharedBudget
from tests.fresh import open_new_lake
from tests.tasks.ingest.builders import write
from tests.tasks.models.simulation import make_model, start_server
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

# No numbers, no headings: the rules find nothing here, the simulated reader goes by the blank lines.
UNNUMBERED = """海洋学小测

Which layer of the ocean holds most of its water?
- A: the surface layer
- B: the deep layer
Answer: B

潮汐主要由哪个天体引起？
- A: 月球
- B: 火星
答案：A
"""
THRESHOLD = 0.6


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_new_lake(settings) as opened:
        yield opened


MODEL = replace(make_model("writer"), roles=("generator",), parameters={"max_tokens": 2000})


def read(folder: Path, text: str, name: str = "paper.txt") -> ParsedDocument:
    return parse_document(write(folder, name, text), IngestOptions())


def make_reply(
    *questions: dict[str, Any], content: str | None = None, finish: str = "stop"
) -> dict[str, Any]:
    text = json.dumps({"questions": list(questions)}, ensure_ascii=False) if content is None else content
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "writer",
        "system_fingerprint": "simulated",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


@contextmanager
def serve(answer: Callable[[str], dict[str, Any] | int]) -> Iterator[str]:
    """An endpoint that answers every text put to it as `answer` says.

    The answer is a reply or an HTTP status.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = json.loads(body["messages"][-1]["content"].split("\n\n", 1)[1])
            reply = answer(request["text"])
            status, data = (reply, {}) if isinstance(reply, int) else (200, reply)
            payload = json.dumps(data, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *arguments: object) -> None:
            """The test's output stays readable."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(
    ledger: Ledger, settings: Settings, url: str, *parsed: ParsedDocument
) -> tuple[list[ParsedDocument], AssistanceSummary]:
    summary = AssistanceSummary()
    found = Assistant(ledger, settings, MODEL, url).help_with(list(parsed), THRESHOLD, summary)
    return found, summary


def test_a_paper_without_numbers_is_split_with_the_models_help(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    parsed = read(tmp_path, UNNUMBERED)
    assert parsed.document["status"] == "no_questions"
    with start_server(writer={"kind": "generator"}) as server:
        (found,), summary = ask(ledger, settings, server.url, parsed)
    assert [
        (row["question_type"], row["stem"], [one["text"] for one in row["options"]], row["answer"])
        for row in found.questions
    ] == [
        (
            "multiple_choice",
            "Which layer of the ocean holds most of its water?",
            ["the surface layer", "the deep layer"],
            ["B"],
        ),
        ("multiple_choice", "潮汐主要由哪个天体引起？", ["月球", "火星"], ["A"]),
    ]
    text = str(parsed.text and parsed.text["text"])
    for row in found.questions:
        assert "assisted" in row["parse_notes"]
        assert text[row["text_start"] : row["text_end"]].startswith(row["stem"][:8])
    assert (found.document["status"], found.document["error"], found.document["question_count"]) == (
        "parsed",
        None,
        2,
    )
    assert found.document["warnings"] == ["2 questions were split with the help of the model writer."]
    assert (summary.documents, summary.questions, summary.refused, summary.failed) == (1, 2, 0, 0)


def test_what_the_rules_are_sure_of_is_not_sent(tmp_path: Path, ledger: Ledger, settings: Settings) -> None:
    sure = read(tmp_path, "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n")
    empty = read(tmp_path, "", "empty.txt")
    assert find_stretches(sure) == find_stretches(empty) == []
    found, summary = ask(ledger, settings, "http://127.0.0.1:9/v1", sure, empty)
    assert found == [sure, empty]
    assert (summary.documents, dict(summary.calls)) == (0, {})


def test_a_question_that_the_paper_does_not_say_is_refused(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    invented = [
        {"number": "", "type": "multiple_choice", "stem": "潮汐主要由哪个天体引起？", "options": [
            {"label": "A", "text": "月球"}, {"label": "B", "text": "木星"}]},
        {"number": "", "type": "short_answer", "stem": "What causes the tides?", "options": []},
        {"number": "", "type": "short_answer", "stem": "Which layer of the ocean holds most of its heat?"},
        {"stem": 7, "options": "none"},
        "no object",
    ]  # fmt: skip
    with serve(lambda text: make_reply(*invented)) as url:  # type: ignore[arg-type]
        (found,), summary = ask(ledger, settings, url, read(tmp_path, UNNUMBERED))
    assert found.questions == []
    assert found.document["status"] == "no_questions"
    assert summary.refused == 4


def test_an_answer_counts_only_where_the_paper_prints_it_with_its_question() -> None:
    text = "Name the deepest ocean trench.\nAnswer: the Mariana Trench\nName the largest ocean.\nHints: think of fishing.\n"
    entries = [
        {"stem": "Name the deepest ocean trench.", "type": "short_answer", "answer": "the Mariana Trench"},
        {"stem": "Name the largest ocean.", "type": "short_answer", "answer": "the Pacific"},
    ]
    located, refused = locate_questions(entries, text, 0, len(text), "en")
    assert refused == 0
    assert [one.draft.answer for one in located] == [["the Mariana Trench"], []]


def test_a_key_in_the_brackets_of_a_stem_is_taken_out_of_it() -> None:
    text = "7. 下列属于行星的是（ B ）\nA 太阳  B 金星\n"
    entry = {
        "number": "7.",
        "type": "multiple_choice",
        "stem": "下列属于行星的是（ B ）",
        "options": [{"label": "A", "text": "太阳"}, {"label": "B", "text": "金星"}],
        "answer": "B",
    }
    (one,), _ = locate_questions([entry], text, 0, len(text), "zh")
    assert (one.draft.number_label, one.draft.value) == ("7.", 7)
    assert (one.draft.stem, one.draft.options, one.draft.answer) == (
        "下列属于行星的是（）",
        [("A", "太阳"), ("B", "金星")],
        ["B"],
    )
    assert text[one.start : one.end].startswith("7.")


def test_short_options_are_looked_for_behind_their_letters() -> None:
    text = "A set of 1 and 2 holds how many elements?\nA) 1\nB) 2\nC) 12\n"
    entry = {
        "stem": "A set of 1 and 2 holds how many elements?",
        "type": "multiple_choice",
        "options": [
            {"label": label, "text": value} for label, value in (("A", "1"), ("B", "2"), ("C", "12"))
        ],
    }
    (one,), _ = locate_questions([entry], text, 0, len(text), "en")
    assert one.draft.options == [("A", "1"), ("B", "2"), ("C", "12")]
    assert one.end == len(text) - 1


def test_a_broken_line_of_the_paper_is_joined_where_the_model_joins_it() -> None:
    text = "What is the average depth of the\nPacific Ocean?\n"
    entry = {"stem": "What is the average depth of the Pacific Ocean?", "type": "short_answer"}
    (one,), _ = locate_questions([entry], text, 0, len(text), "en")
    assert one.draft.stem == "What is the average depth of the Pacific Ocean?"


def test_a_second_run_pays_for_nothing_in_any_month(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    parsed = read(tmp_path, UNNUMBERED)
    with start_server(writer={"kind": "generator"}) as server:
        (first,), one = ask(ledger, settings, server.url, parsed)
        (second,), other = ask(ledger, settings, server.url, parsed)
    assert second == first
    assert (one.calls["sent"], other.calls["sent"], other.calls["replayed"]) == (1, 0, 1)


def test_a_reply_that_is_cut_makes_the_model_read_less_at_once(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistance, "LEAST_WINDOW", 50)
    sizes: list[int] = []

    def answer(text: str) -> dict[str, Any]:
        sizes.append(len(text))
        if len(text) > 120:
            return make_reply(content='{"questions": [', finish="length")
        stems = [line for line in text.split("\n") if line.endswith(("?", "？"))]
        return make_reply(*({"stem": stem, "type": "short_answer"} for stem in stems))

    monkeypatch.setattr(assistance, "WINDOW", 300)
    with serve(answer) as url:
        (found,), _ = ask(ledger, settings, url, read(tmp_path, UNNUMBERED))
    assert max(sizes) > 120 >= min(sizes)
    assert [row["stem"] for row in found.questions] == [
        "Which layer of the ocean holds most of its water?",
        "潮汐主要由哪个天体引起？",
    ]


def test_a_question_cut_by_the_end_of_a_window_is_read_whole_in_the_next(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistance, "WINDOW", 400)
    paper = "\n".join(
        f"Consider lake number {number}\nand its many inlets, then say how deep it may be.\n"
        for number in range(40)
    )

    def answer(text: str) -> dict[str, Any]:
        # as a model does it: whatever begins in the window, complete or not
        blocks = [block for block in text.split("\n\n") if block.startswith("Consider")]
        return make_reply(*({"stem": block.strip(), "type": "short_answer"} for block in blocks))

    with serve(answer) as url:
        (found,), _ = ask(ledger, settings, url, read(tmp_path, paper))
    assert [row["stem"].split("\n")[0] for row in found.questions] == [
        f"Consider lake number {number}" for number in range(40)
    ]
    assert all(row["stem"].endswith("deep it may be.") for row in found.questions)


@pytest.mark.parametrize("reply", [make_reply(content="I cannot do that."), make_reply(content="")])
def test_a_reply_that_cannot_be_read_is_asked_for_once_more_then_the_rules_reading_stays(
    tmp_path: Path, ledger: Ledger, settings: Settings, reply: dict[str, Any]
) -> None:
    parsed = read(tmp_path, UNNUMBERED)
    with serve(lambda text: reply) as url:
        (found,), summary = ask(ledger, settings, url, parsed)
    assert found.questions == parsed.questions
    assert found.document["status"] == "no_questions"
    assert found.document["warnings"] == [
        "The model writer did not help: its reply could not be read. The rules' reading was kept."
    ]
    assert (summary.calls["sent"], summary.failed) == (2, 1)


def test_an_endpoint_that_is_down_is_given_up_and_every_document_keeps_its_reading(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    papers = [read(tmp_path, f"{UNNUMBERED}\n{number}", f"{number}.txt") for number in range(6)]
    asked: list[str] = []

    def refuse(text: str) -> int:
        asked.append(text)
        return 401

    summary = AssistanceSummary()
    with serve(refuse) as url:
        assistant = Assistant(ledger, settings, MODEL, url)
        found = [one for paper in papers for one in assistant.help_with([paper], THRESHOLD, summary)]
    assert [one.questions for one in found] == [paper.questions for paper in papers]
    assert len(asked) == assistance.MOST_UNANSWERED
    assert (summary.failed, summary.is_stopped) == (6, True)
    assert summary.failure is not None and "writer" in summary.failure
    assert "潮汐" not in summary.failure


def test_the_budget_of_a_command_is_never_exceeded(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    parsed = read(tmp_path, UNNUMBERED)
    poor = Settings(home=settings.home, budget_usd=0.0001)
    with start_server(writer={"kind": "generator"}) as server:
        (found,), summary = ask(ledger, poor, server.url, parsed)
    assert found.questions == []
    assert "budget" in str(summary.failure) and summary.is_stopped
    assert "the budget is used up" in found.document["warnings"][0]


def test_two_commands_of_a_month_spend_one_budget(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst: list[float] = []
    reserve = SharedBudget.reserve

    async def note(budget: SharedBudget, amount_usd: float) -> None:
        worst.append(amount_usd)
        await reserve(budget, amount_usd)

    monkeypatch.setattr(SharedBudget, "reserve", note)
    paper = read(tmp_path, UNNUMBERED)
    other = read(tmp_path, UNNUMBERED.replace("海洋学", "海岸学"), "other.txt")
    with start_server(writer={"kind": "generator"}) as server:
        _, bought = ask(ledger, Settings(home=settings.home, budget_usd=1.0), server.url, paper)
        assert bought.budget is not None and bought.budget.spent_usd > 0
        # enough for a command of its own, not for one that shares with the first
        limit = Settings(home=settings.home, budget_usd=max(worst) + bought.budget.spent_usd / 2)
        with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as elsewhere:
            (kept,), refused = ask(elsewhere, limit, server.url, other)
        assert kept.questions == [] and refused.is_stopped and "budget" in str(refused.failure)
        with open_ledger(f"sqlite:///{tmp_path / 'alone.sqlite'}") as alone:
            (found,), allowed = ask(alone, limit, server.url, other)
    assert allowed.failure is None and len(found.questions) == 2


def make_row(start: int, end: int, confidence: float, **changes: Any) -> dict[str, Any]:
    return {
        "question_uuid": f"{start}-{end}-{confidence}",
        "text_start": start,
        "text_end": end,
        "parse_confidence": confidence,
        "position": 0,
    } | changes


def test_the_models_questions_must_be_surer_and_hold_the_text_of_those_that_they_replace() -> None:
    sure, doubtful = make_row(0, 50, 0.9), make_row(50, 200, 0.4)
    better = [make_row(52, 120, 0.8), make_row(120, 200, 0.8)]
    merged = merge_rows([sure, doubtful], better, 50, 200)
    assert merged is not None
    assert [(row["text_start"], row["position"]) for row in merged] == [(0, 1), (52, 2), (120, 3)]
    assert merge_rows([sure, doubtful], [make_row(50, 200, 0.4)], 50, 200) is None
    assert merge_rows([sure, doubtful], [make_row(50, 120, 0.9)], 50, 200) is None
    assert merge_rows([sure, doubtful], [], 50, 200) is None


def test_a_doubtful_run_is_put_to_the_model_with_the_text_between_its_sure_neighbours() -> None:
    rows = [
        make_row(0, 40, 0.9, status="parsed"),
        make_row(60, 90, 0.3, status="low_confidence"),
        make_row(95, 120, 0.3, status="low_confidence"),
        make_row(130, 150, 0.9, status="parsed"),
        make_row(5_000, 5_050, 0.3, status="low_confidence"),
    ]
    parsed = ParsedDocument({"status": "parsed"}, {"text": "x" * 9_000}, rows, Path("paper.txt"))
    assert find_stretches(parsed) == [(40, 130), (5_000, 5_050)]


def test_what_a_contract_of_the_paper_doubts_is_put_to_the_model_too() -> None:
    rows = [
        make_row(0, 40, 0.9, status="parsed", section=0),
        make_row(50, 90, 0.9, status="parsed", section=0, parse_notes=["number_gap_after"]),
        make_row(100, 150, 0.9, status="parsed", section=0),
        make_row(400, 450, 0.9, status="parsed", section=1),
        make_row(2_500, 2_600, 0.9, status="parsed", section=2),
        make_row(2_600, 2_700, 0.9, status="parsed", section=3),
    ]
    breaches = (
        Breach("own", 60, 1, "A question holds another's number."),
        Breach("numbered_lines", 200, 2, "2 numbered lines belong to no question."),
        Breach("announced_count", 2_480, 5, "Section 三 announces 6 questions, 1 was found.", 2),
    )
    document = {"status": "held", "reading": write_reading({}, Checked(breaches, 3, 0.4))}
    parsed = ParsedDocument(document, {"text": ("x" * 49 + "\n") * 180}, rows, Path("paper.txt"))
    assert find_stretches(parsed) == [(40, 100), (150, 400), (2_480, 2_600)]
    nothing = ParsedDocument(
        {"status": "parsed", "reading": write_reading({}, Checked())}, parsed.text, rows, Path("paper.txt")
    )
    assert find_stretches(nothing) == []


def test_landing_keeps_the_calls_and_marks_the_questions(
    tmp_path: Path, lake: Lake, ledger: Ledger, settings: Settings
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "tides.txt", UNNUMBERED)
    write(folder, "planets.txt", "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n")
    with start_server(writer={"kind": "generator"}) as server:
        assistant = Assistant(ledger, settings, MODEL, server.url)
        summary = land_documents(lake, settings, [folder], assistant=assistant)
        again = land_documents(lake, settings, [folder], assistant=assistant)
    counts = summary.as_counts()["assistance"]
    assert isinstance(counts, dict)
    assert (counts["assisted_documents"], counts["assisted_questions"]) == (1, 2)
    assert summary.documents == {"parsed": 2} and again.skipped == 2
    landed = lake.query(
        "select list_contains(parse_notes, 'assisted') as assisted, count(*) as count from questions group by 1 order by 1"
    )
    assert landed.rows() == [(False, 2), (True, 2)]
    calls = lake.query("select purpose, model, status, run_id from llm_calls")
    assert calls.rows() == [("ingest", "writer", "done", "ingest")]
    beside = next((settings.archive_dir).rglob("*.json"))
    assert "question" in beside.read_text(encoding="utf-8")


def test_only_a_registered_generator_may_be_sent_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "models.yaml"
    registry.write_text(
        """
providers:
  house: {base_url: "http://127.0.0.1:9/v1", key_variable: HOUSE_KEY}
models:
  reader: {organisation: House, provider: house, roles: [generator]}
  sitter: {organisation: House, provider: house, roles: [candidate]}
""",
        encoding="utf-8",
    )
    settings = Settings(home=tmp_path, registry=registry)
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    with pytest.raises(RegistryError, match="HOUSE_KEY"):
        read_assist_model(settings, "reader")
    with pytest.raises(RegistryError, match="role `generator`"):
        read_assist_model(settings, "sitter")
    with pytest.raises(RegistryError, match="no model 'nobody'"):
        read_assist_model(settings, "nobody")
    monkeypatch.setenv("HOUSE_KEY", "k")
    assert read_assist_model(settings, "reader").name == "reader"
