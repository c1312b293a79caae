"""A model reads papers that the rules may have read wrongly, over real HTTP.

Nothing that the paper does not say gets in.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_document
from tasks.ingest.intake import SPOOL, open_spool
from tasks.ingest.landing import land_documents
from tasks.ingest.readers.extraction import Extraction, Line
from tasks.ingest.readers.keeping import drop_read, keep_read, name_kept, take_read
from tasks.ingest.second_reader import asking
from tasks.ingest.second_reader.asking import AssistanceSummary, Assistant, list_readers, read_assist_model
from tasks.ingest.second_reader.requests import list_windows
from tasks.models import MOST_PICTURE_TOKENS
from tasks.models.budget.reservations import SharedBudget
from tests.fresh import open_new_lake
from tests.tasks.ingest.builders import make_docx, make_pdf, make_xlsx, paragraph, run, write
from tests.tasks.ingest.test_pictures import draw, save, say, show, write_word
from tests.tasks.models.simulation import make_model, start_server
from tests.warm import WarmProcess
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import llm_calls

# No numbers, no headings: the rules find nothing here, the simulated reader goes by what asks.
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
SURE = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n"
OPTIONS = IngestOptions(shows_lines=True)


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
    return parse_document(write(folder, name, text), OPTIONS)


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


def read_window(content: str | list[dict[str, Any]]) -> str:
    """The numbered lines of a request."""
    whole = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return whole.rpartition("read_paper ")[2].partition("\n")[2]


def list_numbered(window: str) -> list[tuple[str, str]]:
    return re.findall(r"^(\d+)\| (.*)$", window, re.MULTILINE)


@contextmanager
def serve(answer: Callable[[str], dict[str, Any] | int]) -> Iterator[str]:
    """An endpoint that answers every text put to it as `answer` says.

    The answer is a reply or an HTTP status.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = answer(read_window(body["messages"][-1]["content"]))
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
    ledger: Ledger, settings: Settings, url: str, *parsed: ParsedDocument, reads_all: bool = False
) -> tuple[list[ParsedDocument], AssistanceSummary]:
    summary = AssistanceSummary()
    found = Assistant(ledger, settings, MODEL, url, reads_all).help_with(list(parsed), OPTIONS, summary)
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
    assert found.document["warnings"] == ["This paper was read by the model writer."]
    assert (summary.documents, summary.taken, summary.questions, summary.refused, summary.failed) == (
        1,
        1,
        2,
        0,
        0,
    )


def test_what_the_rules_are_sure_of_is_sent_only_where_all_is_asked_for(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    sure, empty = read(tmp_path, SURE), read(tmp_path, "", "empty.txt")
    found, summary = ask(ledger, settings, "http://127.0.0.1:9/v1", sure, empty)
    assert found == [sure, empty]
    assert (summary.documents, dict(summary.calls)) == (0, {})
    said = [
        {"number": "1", "type": "true_false", "stem": ["1"], "answer": "1:（√）", "key": "true"},
        {"number": "2", "type": "true_false", "stem": ["2"], "answer": "2:（√）", "key": "true"},
    ]
    with serve(lambda text: make_reply(*said)) as url:
        (twice, still_empty), summary = ask(ledger, settings, url, sure, empty, reads_all=True)
    assert (summary.documents, still_empty) == (1, empty)
    assert [row["answer"] for row in twice.questions] == [["true"], ["true"]]
    assert all("confirmed" in row["parse_notes"] for row in twice.questions)
    assert min(row["parse_confidence"] for row in twice.questions) >= 0.95


def test_a_key_file_is_not_put_to_the_model_but_goes_with_its_paper(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    write(tmp_path, "期末试题答案.txt", "参考答案\n\n第一道选乙\n")
    paper = read(tmp_path, "潮汐主要由哪个天体引起？\n- A: 月球\n- B: 火星\n", "期末试题.txt")
    key = parse_document(tmp_path / "期末试题答案.txt", OPTIONS)
    asked: list[str] = []

    def answer(window: str) -> dict[str, Any]:
        asked.append(window)
        place = next(number for number, text in list_numbered(window) if "选乙" in text)
        return make_reply(
            {"number": "", "type": "single_choice", "stem": "0", "options": {"A": "1", "B": "2"},
             "answer": place, "key": "B"}
        )  # fmt: skip

    with serve(answer) as url:
        (found, kept), _ = ask(ledger, settings, url, paper, key, reads_all=True)
    assert kept == key
    assert len(asked) == 1 and "=== answer file ===" in asked[0]
    (row,) = found.questions
    assert (row["answer"], "key_by_reader" in row["parse_notes"]) == (["B"], True)


def test_a_question_that_the_paper_does_not_say_is_refused(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    invented = [
        {"number": "", "type": "single_choice", "stem": "5", "options": {"A": "6", "B": "7:木星"}},
        {"number": "", "type": "short_answer", "stem": "1:What causes the tides?"},
        {"stem": 7.5, "options": "none"},
        "no object",
    ]
    with serve(lambda text: make_reply(*invented)) as url:  # type: ignore[arg-type]
        (found,), summary = ask(ledger, settings, url, read(tmp_path, UNNUMBERED))
    assert found.questions == []
    assert found.document["status"] == "no_questions"
    assert (summary.refused, summary.kept) == (3, 1)


def test_where_two_readings_differ_the_second_is_taken_with_less_confidence(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    paper = read(tmp_path, SURE)
    said = [
        {"number": "1", "type": "true_false", "stem": ["1"], "answer": "1:（√）", "key": "true"},
        {"number": "2", "type": "short_answer", "stem": ["2:月球绕地球转。"]},
    ]
    with serve(lambda text: make_reply(*said)) as url:
        (found,), _ = ask(ledger, settings, url, paper, reads_all=True)
    one, other = found.questions
    assert one["parse_confidence"] > other["parse_confidence"]
    assert "assisted" in other["parse_notes"] and "confirmed" not in other["parse_notes"]


def test_a_second_reading_that_the_paper_speaks_against_is_not_taken(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    lines = [
        "一、判断题（共12题，每题1分）",
        *[f"{number}. 第{number}颗行星绕太阳转。（√）" for number in range(1, 13)],
    ]
    paper = read(tmp_path, "\n".join(lines))
    said = [{"number": "3", "type": "true_false", "stem": ["3"], "answer": "3:（√）", "key": "true"}]
    with serve(lambda text: make_reply(*said)) as url:
        (found,), summary = ask(ledger, settings, url, paper, reads_all=True)
    assert len(found.questions) == 12 and (summary.kept, summary.taken) == (1, 0)
    sure = {row["number_label"].strip(".、"): row["parse_confidence"] for row in found.questions}
    assert sure["3"] > 0.9 > sure["4"]


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
    monkeypatch.setattr(asking, "LEAST_WINDOW", 50)
    monkeypatch.setattr(asking, "WINDOW", 300)
    sizes: list[int] = []

    def answer(window: str) -> dict[str, Any]:
        sizes.append(len(window))
        if len(window) > 120:
            return make_reply(content='{"questions": [', finish="length")
        asking = [number for number, text in list_numbered(window) if text.endswith(("?", "？"))]
        return make_reply(*({"stem": number, "type": "short_answer"} for number in asking))

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
    monkeypatch.setattr(asking, "WINDOW", 400)
    paper = "\n".join(
        f"Consider lake number {number}\nand its many inlets, then say how deep it may be.\n"
        for number in range(40)
    )

    def answer(window: str) -> dict[str, Any]:
        # as a model does it: whatever begins in the window, complete or not
        lines = list_numbered(window)
        begun = [place for place, (_, text) in enumerate(lines) if text.startswith("Consider")]
        return make_reply(
            *(
                {"stem": [number for number, _ in lines[place : place + 2]], "type": "short_answer"}
                for place in begun
            )
        )

    with serve(answer) as url:
        (found,), _ = ask(ledger, settings, url, read(tmp_path, paper))
    assert [row["stem"].split("\n")[0] for row in found.questions] == [
        f"Consider lake number {number}" for number in range(40)
    ]
    assert all(row["stem"].endswith("deep it may be.") for row in found.questions)


def test_keys_in_a_later_window_answer_the_questions_before_them(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "WINDOW", 120)
    asked = [f"Explain why lake {number} is deep, and what feeds it." for number in range(1, 4)]
    paper = "\n".join(
        ["Lakes", *asked, "What was asked for", *[f"{number}: rivers {number}" for number in range(1, 4)]]
    )

    def answer(window: str) -> dict[str, Any]:
        questions = [
            {"number": text.split()[3], "stem": number, "type": "short_answer"}
            for number, text in list_numbered(window)
            if text.startswith("Explain")
        ]
        keys = [
            {"number": text[0], "answer": f"{number}:{text[3:]}"}
            for number, text in list_numbered(window)
            if text[1:2] == ":"
        ]
        return make_reply(content=json.dumps({"questions": questions, "keys": keys}))

    with serve(answer) as url:
        (found,), summary = ask(ledger, settings, url, read(tmp_path, paper))
    assert summary.calls["sent"] > 1
    assert [row["answer"] for row in found.questions] == [["rivers 1"], ["rivers 2"], ["rivers 3"]]


@pytest.mark.parametrize("called", ["keys", "questions"])
def test_an_answer_file_that_is_too_long_to_go_with_the_paper_is_read_in_windows_of_its_own(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    monkeypatch.setattr(asking, "WINDOW", 200)
    asked = [f"{number}. Why is lake {letter}{number} deep?" for letter in "ab" for number in range(1, 11)]
    told = [
        f"{number}. rivers {letter}{number}\nand rain {letter}" for letter in "ab" for number in range(1, 11)
    ]
    write(tmp_path, "lakes answers.txt", "Answers\n" + "\n".join(told))
    paper = read(tmp_path, "\n".join(["Lakes", *asked]), "lakes.txt")
    sent: list[str] = []

    def answer(window: str) -> dict[str, Any]:
        sent.append(window)
        lines = list_numbered(window)
        questions = [
            {"number": text.split(".")[0], "stem": number, "type": "short_answer"}
            for number, text in lines
            if text.endswith("?")
        ]
        keys = [
            {
                "number": text.split(".")[0],
                "answer": [number, *(after for after, _ in lines[at + 1 : at + 2])],
            }
            for at, (number, text) in enumerate(lines)
            if ". rivers" in text
        ]
        return make_reply(
            content=json.dumps({"questions": questions, called: keys} if questions else {called: keys})
        )

    with serve(answer) as url:
        (found,), _ = ask(ledger, settings, url, paper, reads_all=True)
        (found_again,), repeated = ask(ledger, settings, url, paper, reads_all=True)
    assert [row["answer"] for row in found.questions] == [
        [f"rivers {letter}{number}\nand rain {letter}"] for letter in "ab" for number in range(1, 11)
    ]
    assert (found_again, repeated.calls["sent"]) == (found, 0)
    windows = [*list_windows(paper.shown, 200)] if paper.shown else []
    shown = [int(number) for window in windows for number, _ in list_numbered(window.text)]
    assert shown == list(range(1 + 20 + 1 + 40))
    assert len(windows) <= len(sent) <= 2 * len(windows)


def test_a_model_whose_replies_are_always_cut_is_not_asked_more_often_than_was_estimated(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "WINDOW", 800)
    monkeypatch.setattr(asking, "LEAST_WINDOW", 1)
    paper = read(tmp_path, "\n".join(f"Why is lake {number} deep?" for number in range(100)))
    sent: list[str] = []

    def answer(window: str) -> dict[str, Any]:
        sent.append(window)
        cut = make_reply(content='{"questions": [', finish="length")
        # what can be read at last is one question of each window
        return (
            cut
            if len(window) > 60
            else make_reply({"stem": list_numbered(window)[0][0], "type": "short_answer"})
        )

    with serve(answer) as url:
        (found,), summary = ask(ledger, settings, url, paper, reads_all=True)
        priced = replace(MODEL, input_price_usd=2.0, output_price_usd=8.0)
        estimate = Assistant(ledger, settings, priced, reads_all=True).estimate([paper])
    assert (summary.failed, found.questions) == (1, paper.questions)
    assert len(sent) == asking.MOST_CALLS * estimate.calls
    assert estimate.usd is not None and estimate.most_usd is not None
    assert estimate.usd < estimate.most_usd <= 1.2 * asking.MOST_CALLS * estimate.usd


@pytest.fixture
def sent(ledger: Ledger, settings: Settings) -> Iterator[Callable[[ParsedDocument], list[Any]]]:
    """What a model that sees pictures is sent of a paper, part by part."""
    contents: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            contents.append(body["messages"][-1]["content"])
            payload = json.dumps(make_reply({"stem": "0", "type": "short_answer"})).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *arguments: object) -> None:
            """The test's output stays readable."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model = replace(MODEL, sees_pictures=True)
    seeing = Assistant(ledger, settings, model, f"http://127.0.0.1:{server.server_port}/v1", True)

    def send(parsed: ParsedDocument) -> list[Any]:
        seeing.help_with([parsed], OPTIONS, AssistanceSummary())
        return list(contents.pop())

    try:
        yield send
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_who_sees_pictures_gets_the_pages(
    tmp_path: Path, sent: Callable[[ParsedDocument], list[Any]]
) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "lakes.pdf"))
    for page in (1, 2):
        canvas.drawString(80, 700, f"Say of the lakes on page {page} why they are deep")
        canvas.showPage()
    canvas.save()
    parts = sent(parse_document(tmp_path / "lakes.pdf", OPTIONS))
    pictures = [
        base64.b64decode(one["image_url"]["url"].partition(",")[2]) for one in parts if "image_url" in one
    ]
    assert [data[:4] for data in pictures] == [b"\x89PNG"] * 2
    assert "[page 2]" in "".join(one.get("text", "") for one in parts)


def test_who_sees_pictures_gets_those_of_the_paper_each_after_its_number(
    tmp_path: Path, ledger: Ledger, settings: Settings, sent: Callable[[ParsedDocument], list[Any]]
) -> None:
    blocks = [say("Say what floats", show("cork")), say("Say what sinks", show("iron"))]
    names = {name: save(draw(name, (900, 600))) for name in ("cork", "iron")}
    write_word(tmp_path / "paper.docx", blocks, names)
    paper = parse_document(tmp_path / "paper.docx", OPTIONS.shown_to(sees_pictures=True))
    parts = sent(paper)
    assert [parts[place]["text"][-9:] for place in (0, 2)] == ["[image 1]", "[image 2]"]
    sizes = [
        Image.open(io.BytesIO(base64.b64decode(parts[place]["image_url"]["url"].partition(",")[2]))).size
        for place in (1, 3)
    ]
    assert sizes == [(512, 341)] * 2
    blind, seeing = (
        Assistant(
            ledger, settings, replace(MODEL, input_price_usd=2.0, output_price_usd=8.0, sees_pictures=sees)
        ).estimate([paper])
        for sees in (False, True)
    )
    assert (seeing.usd or 0.0) - (blind.usd or 0.0) == pytest.approx(2 * MOST_PICTURE_TOKENS * 2.0 / 1e6)


def test_pages_are_drawn_only_for_calls_that_may_soon_go_out(
    tmp_path: Path, ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [read(tmp_path, f"Say of lake {name} why it is deep", f"{name}.txt") for name in "abcdefgh"]
    drawn: list[ParsedDocument] = []
    seen: list[int] = []
    all_are_drawn = threading.Event()

    def draw_page(_: object, parsed: ParsedDocument, window: object) -> tuple[()]:
        drawn.append(parsed)
        if len(drawn) == len(papers):
            all_are_drawn.set()
        return ()

    def answer(text: str) -> dict[str, Any]:
        if not seen:
            # Time enough to draw all that nothing keeps from being drawn.
            all_are_drawn.wait(1.0)
        seen.append(len(drawn))
        return make_reply({"stem": "0", "type": "short_answer"})

    monkeypatch.setattr(asking._Reader, "_draw", draw_page)
    model = replace(MODEL, sees_pictures=True, max_concurrency=1)
    with serve(answer) as url:
        Assistant(ledger, settings, model, url, reads_all=True).help_with(
            papers, OPTIONS, AssistanceSummary()
        )
    assert (seen[0], seen[-1]) == (1 + asking._DRAWN_AHEAD, len(papers))


def test_an_estimate_asks_nothing_and_counts_what_would_be_asked(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    papers = [read(tmp_path, UNNUMBERED), read(tmp_path, SURE, "sure.txt")]
    priced = replace(MODEL, input_price_usd=2.0, output_price_usd=8.0)
    found = Assistant(ledger, settings, priced).estimate(papers)
    assert (found.papers, found.documents, found.calls) == (2, 1, 1)
    assert found.usd is not None and 0.01 < found.usd < 0.1
    assert found.most_usd == pytest.approx(asking.MOST_CALLS * found.usd)
    every = Assistant(ledger, settings, priced, reads_all=True).estimate(papers)
    assert (every.documents, every.usd or 0.0) > (1, found.usd)
    free = Assistant(ledger, settings, replace(MODEL, input_price_usd=None)).estimate(papers)
    assert (free.usd, free.most_usd) == (None, None)


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
        found = [one for paper in papers for one in assistant.help_with([paper], OPTIONS, summary)]
    assert [one.questions for one in found] == [paper.questions for paper in papers]
    assert len(asked) == asking.MOST_UNANSWERED
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


def test_landing_keeps_the_calls_and_marks_the_questions(
    tmp_path: Path, lake: Lake, ledger: Ledger, settings: Settings
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "tides.txt", UNNUMBERED)
    write(folder, "planets.txt", SURE)
    with start_server(writer={"kind": "generator"}) as server:
        assistant = Assistant(ledger, settings, MODEL, server.url)
        summary = land_documents(lake, settings, [folder], assistant=assistant)
        again = land_documents(lake, settings, [folder], assistant=assistant)
    counts = summary.as_counts()["assistance"]
    assert isinstance(counts, dict)
    assert (counts["assisted_documents"], counts["assisted_questions"]) == (1, 2)
    assert summary.documents == {"parsed": 2} and again.skipped == 2
    assert list((settings.archive_dir / SPOOL).iterdir()) == []
    landed = lake.query(
        "select list_contains(parse_notes, 'assisted') as assisted, count(*) as count from questions group by 1 order by 1"
    )
    assert landed.rows() == [(False, 2), (True, 2)]
    calls = lake.query("select purpose, model, status, run_id from llm_calls")
    assert calls.rows() == [("ingest", "writer", "done", "ingest")]
    beside = next((settings.archive_dir).rglob("*.json"))
    assert "question" in beside.read_text(encoding="utf-8")


FORMATS: dict[str, bytes | str] = {
    "tides.txt": "\r\n".join(["1. Which rise?", "A. tides", "B. stones"]),
    "tides.docx": make_docx([paragraph(run(text)) for text in ("1. Which rise?", "A. tides", "B. stones")]),
    "tides.xlsx": make_xlsx({"S": [["1. Which rise?"], ["A. tides"], ["B. stones"]]}),
    "tides.html": "<html><body><p>1. Which rise?</p><p>A. <b>tides</b></p><p>B. stones</p></body></html>",
    "tides.pdf": make_pdf([[(70, 700, "1. Which rise?"), (70, 680, "A. tides"), (70, 660, "B. stones")]]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_paper_and_its_answer_file_are_opened_once_for_two_readings(
    tmp_path: Path, ledger: Ledger, settings: Settings, name: str
) -> None:
    path = write(tmp_path, name, FORMATS[name])
    answers = write(tmp_path, "tides answers.txt", "1. A")
    said = {"number": "1", "type": "single_choice", "stem": "0", "options": {"A": "1", "B": "2"}}
    options = replace(OPTIONS, spool=open_spool(settings.archive_dir))
    parsed = parse_document(path, options)
    assert parsed.shown is not None and parsed.copy is not None
    for file in (path, answers, parsed.copy):
        file.unlink()
    with serve(lambda _: make_reply(said | {"answer": "3:1. A", "key": "A"})) as url:
        assistant = Assistant(ledger, settings, MODEL, url, reads_all=True)
        (found,) = assistant.help_with([parsed], options, summary := AssistanceSummary())
    assert (summary.taken, summary.failed) == (1, 0)
    assert [(row["stem"], row["answer"]) for row in found.questions] == [("Which rise?", ["A"])]


def test_a_paper_that_is_only_looked_at_leaves_no_copy(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    path = write(tmp_path, "tides.txt", "Why do tides rise, and when?")
    with serve(lambda _: make_reply({"stem": "0", "type": "short_answer"})) as url:
        assistant = Assistant(ledger, settings, MODEL, url)
        found = assistant.read_twice(path, IngestOptions(), summary := AssistanceSummary())
    assert (summary.taken, found.copy, [row["stem"] for row in found.questions]) == (
        1,
        None,
        ["Why do tides rise, and when?"],
    )
    assert list((settings.archive_dir / SPOOL).iterdir()) == []


def test_of_what_was_kept_of_a_paper_nothing_is_run(tmp_path: Path) -> None:
    keep_read(tmp_path / "copy", Extraction("test", "1", [Line("1. Why?")]), None)
    assert take_read(tmp_path / "copy") == (Extraction("test", "1", [Line("1. Why?")]), None)
    name_kept(tmp_path / "copy").write_bytes(pickle.dumps((print, None)))
    assert take_read(tmp_path / "copy") is None
    drop_read(tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


READING = """
import sys
from dataclasses import replace
from pathlib import Path

from schemas.settings import Settings
from tasks.ingest import Assistant
from tasks.ingest.landing import land_documents
from tests.tasks.models.simulation import make_model
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

home, papers, ledger_url, url = sys.argv[1:]
model = replace(make_model("writer"), roles=("generator",), parameters={"max_tokens": 2000})
settings = Settings(home=Path(home))
with open_ledger(ledger_url) as ledger, open_lake(settings) as lake:
    land_documents(lake, settings, [Path(papers)], assistant=Assistant(ledger, settings, model, url))
"""


def test_a_command_that_is_killed_while_a_model_reads_pays_for_no_reply_twice(
    tmp_path: Path, settings: Settings, warm_python: str
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("tides", "hangs"):
        write(folder, f"{name}.txt", UNNUMBERED.replace("海洋学小测", f"海洋学小测 {name}"))
    asked: list[str] = []
    is_killed = threading.Event()

    def answer(window: str) -> dict[str, Any]:
        asked.append("tides" if "tides" in window else "hangs")
        if asked[-1] == "hangs":
            is_killed.wait(120)
        asking = [int(number) for number, text in list_numbered(window) if text.endswith(("?", "？"))]
        # Its options and its answer stand on the three lines below each.
        return make_reply(
            *(
                {"stem": f"{number}", "type": "single_choice", "options": {"A": f"{number + 1}", "B": f"{number + 2}"},
                 "answer": f"{number + 3}", "key": "B" if number < asking[-1] else "A"}
                for number in asking
            )
        )  # fmt: skip

    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with serve(answer) as url, open_new_lake(settings) as lake, open_ledger(address) as ledger:
        command = [warm_python, "-c", READING, str(settings.home), str(folder), address, url]
        process = WarmProcess(command, stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 120
            while count_replies(ledger) < 1 or "hangs" not in asked:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        assert lake.query("select count(*) from documents").rows() == [(0,)]
        is_killed.set()
        summary = land_documents(lake, settings, [folder], assistant=Assistant(ledger, settings, MODEL, url))
        assert summary.documents == {"parsed": 2}
        landed = lake.query("select document_name, count(*) from questions group by 1 order by 1")
        assert landed.rows() == [("hangs.txt", 2), ("tides.txt", 2)]
    assert asked.count("tides") == 1
    assert asked.count("hangs") == 2


def count_replies(ledger: Ledger) -> int:
    with ledger.read() as connection:
        found = connection.execute(select(func.count()).where(llm_calls.c.status == "done"))
        return int(found.scalar_one())


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
  both: {organisation: House, provider: house, roles: [candidate, generator]}
""",
        encoding="utf-8",
    )
    settings = Settings(home=tmp_path, registry=registry)
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    with pytest.raises(RegistryError, match="HOUSE_KEY"):
        read_assist_model(settings, "reader")
    with pytest.raises(RegistryError, match="role `generator`"):
        read_assist_model(settings, "sitter")
    with pytest.raises(RegistryError, match="'both' is a candidate, and would read"):
        read_assist_model(settings, "both")
    assert [model.name for model in list_readers(settings)] == ["reader"]
    with pytest.raises(RegistryError, match="no model 'nobody'"):
        read_assist_model(settings, "nobody")
    monkeypatch.setenv("HOUSE_KEY", "k")
    assert read_assist_model(settings, "reader").name == "reader"


def test_a_question_that_shows_its_key_is_not_confirmed_by_who_reads_it_alike(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    text = "一、判断题\n" + "\n".join(f"{number}. 第{number}颗行星绕太阳转。（√）" for number in range(1, 9))
    paper = read(tmp_path, text)
    shown = [
        row | {"parse_notes": [*row["parse_notes"], "key_shown"], "parse_confidence": 0.3}
        for row in paper.questions
    ]
    said = {"number": "1", "type": "true_false", "stem": ["1"], "answer": "1:（√）", "key": "true"}
    with serve(lambda window: make_reply(said)) as url:
        (found,), _ = ask(ledger, settings, url, replace(paper, questions=shown), reads_all=True)
    assert len(found.questions) == 8
    assert "confirmed" in found.questions[0]["parse_notes"]
    assert found.questions[0]["parse_confidence"] == 0.3


def test_a_paper_with_pictures_is_asked_about_though_it_breaks_no_contract(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    paper = read(tmp_path, SURE)
    with serve(lambda text: make_reply()) as url:
        _, summary = ask(ledger, settings, url, paper)
        assert summary.documents == 0
        _, summary = ask(ledger, settings, url, replace(paper, pictures=[{"sha256": "ab" * 32}]))
    assert summary.documents == 1


def test_what_a_second_reader_takes_for_no_paper_is_held(
    tmp_path: Path, ledger: Ledger, settings: Settings
) -> None:
    paper = read(tmp_path, SURE)
    assert paper.document["status"] == "parsed"
    with serve(lambda text: make_reply()) as url:
        (found,), _ = ask(ledger, settings, url, paper, reads_all=True)
    assert [row["stem"] for row in found.questions] == [row["stem"] for row in paper.questions]
    assert found.document["status"] == "held"
    assert "finds no question in it, the rules 2" in found.document["error"]
    assert {row["status"] for row in found.questions} == {"low_confidence"}
    # a reply of which nothing is in the paper says nothing of it
    with serve(lambda text: make_reply({"stem": ["99"], "type": "true_false"})) as url:
        (kept,), _ = ask(ledger, settings, url, read(tmp_path, SURE.replace("地球", "火星")), reads_all=True)
    assert kept.document["status"] == "parsed"
