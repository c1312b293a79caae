"""What is a second reader worth that errs, and how much of what it gets wrong is believed?

The papers have a damaged stretch, and the readers are simulated.

Run: python -m tests.benchmarks.ingest_assistance
In every made paper some questions in a row lose their numbers and the letters of their options, as converters lose them.
The reader is an endpoint that knows the paper and points at each question wrongly at a given rate: a changed word, a
question left out, half a stem, exchanged options, another answer, two questions in one. The calls are real ones, and every paper
is put to it.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from schemas.settings import Settings
from tasks.ingest import AssistanceSummary, Assistant, IngestOptions, parse_document
from tests.benchmarks.ingest_mutations import fold, is_right
from tests.benchmarks.ingest_papers import MadePaper, MadeQuestion, make_paper
from tests.tasks.models.simulation import make_model
from warehouse.ledger.engine.opening import open_ledger

LAYOUTS = (
    ("zh", "stacked", "behind"),
    ("zh", "inline", "behind"),
    ("en", "stacked", "behind"),
    ("en", "inline", "behind"),
)
SEEDS = 5
SIZE = 3_400
LOST = 4
RATES = (0.0, 0.1, 0.3, 0.6)
OPTIONS = IngestOptions(shows_lines=True)
_TYPES = {"multiple_choice": "single_choice"}
_NUMBER = re.compile(r"^\d{1,3}[.、] ?(?=\D)")
_LETTER = re.compile(r"(^|\s)[A-D][.、] ")
_ANSWER = re.compile(r"^(?:答案：|Answer: )")
_EXPLANATION = re.compile(r"^(?:解析：|Explanation: )")
_ERRORS = ("word", "left out", "half", "exchanged", "other answer", "two in one")


@dataclass(frozen=True)
class Worth:
    """Questions asked, right, landed, sure (confidence of .9 or more), sure and wrong."""

    asked: int = 0
    right: int = 0
    landed: int = 0
    sure: int = 0
    sure_wrong: int = 0
    refused: int = 0
    kept: int = 0

    def __add__(self, other: Worth) -> Worth:
        return Worth(
            *(left + right for left, right in zip(vars(self).values(), vars(other).values(), strict=True))
        )


def damage(paper: MadePaper, draw: random.Random) -> list[str]:
    """The lines of a paper of which some questions in a row have lost their numbers and letters."""
    lines = list(paper.lines)
    numbered = [index for index, line in enumerate(lines) if _NUMBER.match(line)][: len(paper.questions)]
    first = draw.randrange(1, max(2, len(numbered) - LOST))
    begin = numbered[first]
    end = numbered[first + LOST] if first + LOST < len(numbered) else begin
    for index in range(begin, end):
        lines[index] = _LETTER.sub(r"\1", _NUMBER.sub("", lines[index]))
    return lines


_SHOWN = re.compile(r"^(\d+)\| (.*)$", re.MULTILINE)


def read_as_model(window: str, paper: MadePaper, rate: float, draw: random.Random) -> list[dict[str, Any]]:
    """What a reader that knows the paper points at in a window, wrong at the given rate."""
    shown = [(number, text) for number, text in _SHOWN.findall(window)]
    folded = [fold(text) for _, text in shown]
    found: list[tuple[int, MadeQuestion]] = []
    cursor = 0
    for question in paper.questions:
        wanted = fold(question.stem.split("\n")[0])
        place = next((at for at in range(cursor, len(shown)) if wanted and wanted in folded[at]), None)
        if place is not None:
            found.append((place, question))
            cursor = place + 1
    entries: list[dict[str, Any]] = []
    for order, (place, question) in enumerate(found):
        last = found[order + 1][0] if order + 1 < len(found) else len(shown)
        own = shown[place:last]
        entry = point_at(question, own)
        error = draw.choice(_ERRORS) if draw.random() < rate else ""
        if error == "left out":
            continue
        stem = str(entry["stem"][0])
        if error == "word":
            entry["stem"][0] = f"{stem}又及"
        elif error == "half":
            entry["stem"][0] = stem[: max(len(stem) // 2, stem.find(":") + 3)]
        elif error == "exchanged" and len(entry["options"]) > 1:
            entry["options"]["A"], entry["options"]["B"] = entry["options"]["B"], entry["options"]["A"]
        elif error == "other answer":
            entry["key"] = draw.choice("ABCD")
        elif error == "two in one" and order + 1 < len(found):
            entry["stem"].append(shown[last][0])
        entries.append(entry)
    return entries


def point_at(question: MadeQuestion, own: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Where the parts of a question stand among its lines."""

    def quote(wanted: str) -> str:
        at = next((number for number, text in own if fold(wanted) in fold(text)), own[0][0])
        return f"{at}:{wanted}"

    answers = [(number, _ANSWER.sub("", text)) for number, text in own if _ANSWER.match(text)]
    reasons = [(number, _EXPLANATION.sub("", text)) for number, text in own if _EXPLANATION.match(text)]
    entry: dict[str, Any] = {
        "number": (match[0].rstrip("., 、") if (match := _NUMBER.match(own[0][1])) else ""),
        "type": _TYPES.get(question.question_type, question.question_type),
        "stem": [quote(line) for line in question.stem.split("\n")],
        "options": {label: quote(text) for label, text in zip("ABCDEFGHIJ", question.options, strict=False)},
        "answer": [f"{number}:{text}" for number, text in answers[:1]],
        "explanation": [f"{number}:{text}" for number, text in reasons[:1]],
    }
    letters = "".join(re.findall("[A-J]", answers[0][1])) if answers else ""
    return entry | ({"key": letters} if question.options and letters else {})


@contextmanager
def serve(paper: MadePaper, rate: float, seed: str) -> Iterator[str]:
    """The reader as an endpoint on this machine."""
    draw = random.Random(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            window = body["messages"][-1]["content"].rpartition("read_paper ")[2].partition("\n")[2]
            content = json.dumps({"questions": read_as_model(window, paper, rate, draw)}, ensure_ascii=False)
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            reply = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "reader",
                "choices": [choice],
                "usage": usage,
            }
            payload = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *arguments: object) -> None:
            """The table stays readable."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def judge(questions: Sequence[dict[str, Any]], paper: MadePaper) -> Worth:
    """The questions of one reading held against what the paper asks."""
    sure = [read for read in questions if read["parse_confidence"] >= 0.9]
    return Worth(
        asked=len(paper.questions),
        right=sum(any(is_right(question, read) for read in questions) for question in paper.questions),
        landed=len(questions),
        sure=len(sure),
        sure_wrong=sum(not any(is_right(question, read) for question in paper.questions) for read in sure),
    )


def measure(rate: float | None) -> Worth:
    """The result of reading all damaged papers.

    They are read by the rules alone (None) or with the help of a reader that errs at `rate`.
    """
    total = Worth()
    model = replace(make_model("reader"), roles=("generator",), parameters={"max_tokens": 4000})
    with (
        tempfile.TemporaryDirectory() as name,
        open_ledger(f"sqlite:///{name}/ledger.sqlite") as ledger,
    ):
        for layout in LAYOUTS:
            for seed in range(SEEDS):
                paper = make_paper(SIZE, seed, *layout)
                path = Path(name) / f"{'-'.join(layout)}-{seed}.txt"
                path.write_text("\n".join(damage(paper, random.Random(f"{seed}{layout}"))), encoding="utf-8")
                parsed = parse_document(path, OPTIONS)
                if rate is None:
                    total += judge(parsed.questions, paper)
                    continue
                summary = AssistanceSummary()
                with serve(paper, rate, f"{seed}{layout}{rate}") as url:
                    assistant = Assistant(ledger, Settings(home=Path(name)), model, url, reads_all=True)
                    (helped,) = assistant.help_with([parsed], OPTIONS, summary)
                total += judge(helped.questions, paper) + Worth(refused=summary.refused, kept=summary.kept)
    return total


def main() -> None:
    """Print one line for the rules alone and one for each rate of errors."""
    print(
        f"{'reader':<26}{'right':>8}{'landed':>8}{'sure':>7}{'sure and wrong':>16}{'refused':>9}{'kept':>6}"
    )
    for rate in (None, *RATES):
        one = measure(rate)
        name = "the rules alone" if rate is None else f"errs in {rate:.0%} of questions"
        print(
            f"{name:<26}{one.right / one.asked:>8.1%}{one.landed:>8}{one.sure:>7}{one.sure_wrong:>16}"
            f"{one.refused:>9}{one.kept:>6}",
            flush=True,
        )


if __name__ == "__main__":
    main()
