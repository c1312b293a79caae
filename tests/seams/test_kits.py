"""The kits by which others hold their own kinds to our rules.

Our own kinds pass them; a kind that breaks a rule does not.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from deployments.auth.kinds import SIGN_INS, Accounts, Attempt, FormField, Recognised
from deployments.auth.kinds.conformance import check_form, check_redirect
from tasks.gscore.metrics import METRICS
from tasks.gscore.metrics.conformance import check_metric
from tasks.ingest.readers import READERS, DocumentError, Extraction, Line
from tasks.ingest.readers.conformance import check_reader
from tasks.judging.kinds import JUDGES, Messages, ParsedJudgement, QuestionContent, render_sections
from tasks.judging.kinds.conformance import check_judge
from tasks.models.providers import PROVIDERS, Failure, ParsedReply
from tasks.models.providers.conformance import check_provider
from tests.seams.portal_site import SECRET, serve_portal
from tests.seams.test_third_party import PAPER, SOURCE
from tests.tasks.models.anthropic_server import Message, serve_messages
from tests.tasks.models.simulation import start_server
from warehouse.lake.conformance import check_analyses
from warehouse.lake.reading.queries import ANALYSES_DIR

SAMPLES = {
    "text": b"1. Why?\nA. so\nB. not so\n",
    "html": b"<html><ol><li>Why?</li></ol></html>",
    "csv": b"question,answer\nWhy?,so\n",
    "json": b'[{"question": "Why?", "answer": "so"}]',
    "jsonl": b'{"question": "Why?", "answer": "so"}\n',
}


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SOURCE))
    import proctor_tex.echo
    import proctor_tex.lengths
    import proctor_tex.portal
    import proctor_tex.reader
    import proctor_tex.terse

    yield proctor_tex
    for name in [name for name in sys.modules if name.startswith("proctor_tex")]:
        del sys.modules[name]


@contextmanager
def serve_echo() -> Iterator[str]:
    """The address of a server of the kind that the package's provider speaks to."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(
                {"completion": body["prompt"], "read": 3, "written": 3, "why": "end"}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_our_readers_of_text_pass(name: str) -> None:
    check_reader(READERS.find(name), SAMPLES[name])


def test_the_third_partys_pass(third_party: Any) -> None:
    assert len(check_reader(third_party.reader.TEX, PAPER.encode()).lines) == 10
    with serve_echo() as url:
        check_provider(third_party.echo.open_endpoint, url)
    check_metric(third_party.lengths.LENGTHS)
    check_judge(third_party.terse.TERSE, {'{"stars": 2}': 2, "unsure": None})
    assert [query.name for query in check_analyses(third_party.ANALYSES)] == ["documents_by_converter"]


class Reads:
    """A reader that breaks one rule."""

    def __init__(self, media_type: str, *answers: object) -> None:
        self.media_type = media_type
        self._answers = list(answers)

    def read(self, data: bytes, options: Mapping[str, Any]) -> Any:
        if not data:
            raise DocumentError("empty", "Nothing.")
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def extract(*lines: Line) -> Extraction:
    return Extraction("mine", "1", lines=list(lines))


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        (Reads("tex", extract(Line("a"))), "is no media type"),
        (Reads("text/x", "words"), "returned str"),
        (Reads("text/x", extract(Line("a")), extract(Line("b"))), "in two ways"),
        (Reads("text/x", extract()), "nothing was read"),
        (Reads("text/x", extract(Line("a\nb"))), "a line holds a line break"),
        (Reads("text/x", extract(Line("a", 2), Line("b", 1))), "pages are not in order"),
        (Reads("text/x", extract(Line("a", label_length=2))), "label_length"),
        (Reads("text/x", extract(Line("a", emphasis=((0, 2, "bold"),)))), "emphasis"),
        (Reads("text/x", extract(Line("a")), extract(Line("a")), KeyError("x")), "KeyError was raised"),
    ],
)
def test_a_reader_that_breaks_a_rule_does_not_pass(reader: Reads, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_reader(reader, b"sample")


def test_our_metric_passes() -> None:
    check_metric(METRICS.find("surface"))


class Scores:
    identity = "1"

    def __init__(self, columns: Sequence[str], scores: Any) -> None:
        self.columns = columns
        self._scores = scores

    def score(self, references: Sequence[str], responses: Sequence[str], profile: object) -> Any:
        return self._scores(len(references))


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (Scores((), lambda n: {}), "columns has names"),
        (Scores(("My Score",), lambda n: {}), "small_letters"),
        (Scores(("one",), lambda n: {"two": np.zeros(n)}), "the scores are of"),
        (Scores(("one",), lambda n: {"one": np.zeros(n + 1)}), "scores of"),
        (Scores(("one",), lambda n: {"one": np.full(n, np.inf)}), "infinite"),
        (Scores(("one",), lambda n: {"one": np.arange(n)}), "another score by itself"),
    ],
)
def test_a_metric_that_breaks_a_rule_does_not_pass(metric: Scores, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_metric(metric)


def test_our_analyses_have_what_the_kit_asks_for_but_their_names(tmp_path: Path) -> None:
    for file in list(ANALYSES_DIR.glob("*.sql"))[:5]:
        (tmp_path / f"other_{file.name}").write_text(file.read_text("utf-8"))
    assert len(check_analyses(tmp_path)) == 5


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mine", "-- Which?\n", "holds no statement"),
        ("mine", "-- Rows.\nSELECT 1", "the question that it answers"),
        ("leaderboard", "-- Which?\nSELECT 1", "has this name"),
        ("mine", "-- Which?\nSELECT $month", "uses .'month'., declares .."),
        ("mine", "-- Which?\nSELECT * FROM nothing_like_it", "nothing_like_it"),
        ("mine", "-- Which?\nDROP TABLE documents", "is no one SELECT"),
    ],
)
def test_an_analysis_that_breaks_a_rule_does_not_pass(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / f"{name}.sql").write_text(text)
    with pytest.raises(AssertionError, match=said):
        check_analyses(tmp_path)


def test_an_analysis_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text("-- 多少份?\nSELECT 1", encoding="gbk")
    with pytest.raises(AssertionError, match=r"the package, mine.sql is not UTF-8"):
        check_analyses(tmp_path)


def test_both_our_providers_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.tasks.models.anthropic_server.KEY", "none")
    with serve_messages(lambda body, number: Message()) as server:
        assert check_provider(PROVIDERS.find("anthropic"), server.url).text == "B"
    simulated = start_server(conformance={})
    try:
        reply = check_provider(PROVIDERS.find("openai"), simulated.url)
        assert reply.fingerprint == "simulated"
    finally:
        simulated.stop()


class Sends:
    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    def __call__(self, url: str, key: str, timeout_s: float) -> Any:
        self._is_lost = url.endswith(":9/v1")
        return self

    async def send(self, request: Any) -> Any:
        return self._outcome(request) if self._is_lost else ParsedReply("yes")

    async def close(self) -> None:
        pass


def fail(request: Any) -> Any:
    raise ConnectionError("gone")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (fail, "ConnectionError was raised"),
        (lambda request: ParsedReply("yes"), "a server that is not there"),
        (lambda request: Failure("connection", False), "may be there again"),
        (lambda request: Failure(request["messages"][1]["content"], True), "short class without content"),
    ],
)
def test_a_provider_that_breaks_a_rule_does_not_pass(outcome: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_provider(Sends(outcome), "http://127.0.0.1:1/v1")


VERDICTS = {'{"stars": 2, "reason": "partly"}': 2, "Overall Rating: 3": 3, "Hard to say.": None}


def test_our_judge_passes() -> None:
    check_judge(JUDGES.find("stars"), VERDICTS)


def ask(question: QuestionContent, response: str) -> Messages:
    return [{"role": "user", "content": render_sections(question, response)}]


class Judges:
    """A kind of judge that breaks one rule."""

    def __init__(
        self,
        version: Any = "1",
        schema: Any = None,
        asks: Any = ask,
        reads: Any = JUDGES.find("stars").parse_reply,
    ) -> None:
        self.version, self.reply_schema = version, schema
        self.write_messages, self.parse_reply = asks, reads


def draw(question: QuestionContent, response: str) -> Messages:
    return [{"role": "user", "content": f"{uuid.uuid4()} {render_sections(question, response)}"}]


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (Judges(version=1), "version 1 has"),
        (Judges(version="1/zh"), "version '1/zh' has"),
        (Judges(version="1-2"), "version '1-2' has"),
        (Judges(schema={"type": "object"}), "response_format of type json_schema"),
        (Judges(asks=lambda *_: []), "no list of messages"),
        (Judges(asks=lambda *_: [{"role": "user", "content": "Stars?"}]), "do not hold the response"),
        (Judges(asks=lambda question, response: [{"role": "user", "content": response}]), "the question"),
        (Judges(asks=draw), "in two ways: its reply would be paid for twice"),
        (Judges(reads=lambda text: ParsedJudgement(3, None)), "means 2 stars, and was read as 3"),
        (Judges(reads=lambda text: 2), "'int' object has no attribute|returned int"),
        (Judges(reads=json.loads), "JSONDecodeError was raised|returned dict"),
    ],
)
def test_a_judge_that_breaks_a_rule_does_not_pass(judge: Judges, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_judge(judge, VERDICTS)


async def follow(address: str) -> Mapping[str, str]:
    """Go where a browser goes, and return the parameters with which it is sent back."""

    def ask() -> str:
        parts = urlsplit(address)
        connection = HTTPConnection(parts.netloc, timeout=10)
        connection.request("GET", f"{parts.path}?{parts.query}")
        location = connection.getresponse().headers["Location"]
        connection.close()
        return urlsplit(location).query

    return dict(parse_qsl(await asyncio.to_thread(ask)))


def test_the_third_partys_way_to_sign_in_passes(third_party: Any) -> None:
    with serve_portal() as site:
        site.name, site.groups = "Ada", ("staff",)
        kind = third_party.portal.open_kind({"url": site.url, "secret": SECRET})
        found = check_redirect(kind, follow, "https://desk.example/sign-in/portal/back")
    assert found == Recognised("ada", ("staff",))


class Redirects:
    """A way to another site that breaks one rule."""

    title = help = {"en": "There", "zh": "那里"}

    def __init__(
        self,
        address: str = "https://there.example/?state={0.state}",
        out: str | None = None,
        reads: Any = None,
    ) -> None:
        self._address, self._out, self._reads = address, out, reads

    async def begin(self, attempt: Attempt) -> str:
        return self._address.format(attempt)

    async def read_answer(self, attempt: Attempt, query: Mapping[str, str]) -> Any:
        if self._reads is not None:
            return self._reads(query)
        return Recognised("ada") if query.get("answer") == attempt.state else None

    async def end(self, back: str) -> str | None:
        return self._out


async def turn_back(address: str) -> Mapping[str, str]:
    state = dict(parse_qsl(urlsplit(address).query)).get("state", "")
    return {"state": state, "answer": state}


def test_a_way_to_another_site_that_keeps_the_rules_passes() -> None:
    assert check_redirect(Redirects(), turn_back, "https://desk.example/back") == Recognised("ada")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Redirects("http://there.example/?state={0.state}"), "no address to send a browser to"),
        (Redirects("javascript:alert('{0.state}')"), "no address to send a browser to"),
        (Redirects("https://desk.example@there.example/?state={0.state}"), "no address to send a browser to"),
        (Redirects("https://there.example/"), "lacks the state"),
        (Redirects("https://there.example/?state={0.state}&v={0.verifier}"), "shows the verifier"),
        (Redirects("https://there.example/?x={0.state}"), "did not come back as it went out"),
        (Redirects(reads=lambda query: Recognised("ada")), "an answer that is none recognised somebody"),
        (
            Redirects(reads=lambda query: Recognised("ada") if query.get("answer") else None),
            "the answer to another attempt recognised somebody",
        ),
        (Redirects(reads=lambda query: None), "the answer that is right recognised nobody"),
        (Redirects(reads=lambda query: query["answer"]), "KeyError was raised for an answer"),
        (Redirects(out="//there.example"), "no address to send a browser to"),
    ],
)
def test_a_way_to_another_site_that_breaks_a_rule_does_not_pass(kind: Redirects, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_redirect(kind, turn_back, "https://desk.example/back")


class Ada:
    """Accounts of which one exists."""

    def check_password(self, user_id: str, password: str) -> bool:
        return (user_id, password) == ("ada", "right")


RIGHT = {"user_id": "ada", "password": "right"}
WRONG = {"user_id": "ada", "password": "wrong"}


def test_our_kind_of_sign_in_passes() -> None:
    kind: Any = SIGN_INS.find("password")({})
    assert check_form(kind, RIGHT, WRONG, Ada()) == Recognised("ada")


class Asks:
    """A form that breaks one rule."""

    title = help = {"en": "A form", "zh": "表单"}

    def __init__(self, *fields: str, words: Any = title, reads: Any = None) -> None:
        self.title = words
        self.fields = [FormField(name, {"en": "It", "zh": "它"}) for name in fields or ("password",)]
        self._reads = reads

    async def read_form(self, form: Mapping[str, str], accounts: Accounts) -> Any:
        if self._reads is not None:
            return self._reads(form)
        is_right = accounts.check_password(form["user_id"], form["password"])
        return Recognised(form["user_id"]) if is_right else None


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Redirects(), "no kind with a form"),
        (Asks(words={"en": "A form"}), "says nothing in 'zh'"),
        (Asks("password", "password"), "two fields have one name"),
        (Asks("Pass word"), "small letters, digits and underscores"),
        (Asks("then"), "which is Proctor's own"),
        (Asks(reads=lambda form: None), "the form that is right recognised nobody"),
        (Asks(reads=lambda form: Recognised("ada")), "a form that is wrong recognised somebody"),
        (Asks(reads=lambda form: Recognised("a\nda")), "is no name of an account"),
        (Asks(reads=lambda form: "ada"), "str was returned"),
        (Asks(reads=lambda form: {"right": Recognised("ada")}[form["password"]]), "KeyError was raised"),
    ],
)
def test_a_form_that_breaks_a_rule_does_not_pass(kind: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_form(kind, RIGHT, WRONG, Ada())
