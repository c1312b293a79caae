"""The candidate's own client renews while a model thinks, and continues after any kill."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deployments.exam_api import create_app
from schemas.errors import ExamError, UsageError
from tasks.exam.http_calls import DoorError, HttpCaller
from tasks.exam.outside.answering import CommandAnswerer, NoAnswer
from tasks.exam.outside.credentials import Credentials, read_signing_key, sign_answer, write_signed_bytes
from tasks.exam.outside.sitting import OutsideProgress, OutsideReport, OutsideSitter
from tasks.exam.outside.state import SittingState
from tests.local_server import Handler, serve
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

PROCTOR = str(Path(sys.executable).with_name("proctor"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


def make_world(ledger: Ledger, home: Path, **settings_values: Any) -> World:
    settings = make_settings(home, **settings_values)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    return World(ledger, settings, registry, make_bank(), plan, now=time.time())


def sit(
    url: str,
    world: World,
    folder: Path,
    answer: Callable[[dict[str, Any]], Any],
    *,
    credentials: Credentials | None = None,
    key: Ed25519PrivateKey | None = None,
    told: list[OutsideProgress] | None = None,
) -> OutsideReport:
    session_id = world.sessions()[0]["session_id"]

    async def run() -> OutsideReport:
        async with HttpCaller(url, patience_s=20) as caller:
            with SittingState(folder, url, session_id) as state:
                shown = credentials or Credentials(token=world.token(session_id))
                progress = (lambda _: None) if told is None else told.append
                sitter = OutsideSitter(caller, shown, session_id, state, answer, key=key, progress=progress)
                return await sitter.sit()

    return asyncio.run(run())


def test_a_lease_is_renewed_while_the_model_thinks_longer_than_it_lasts(
    ledger: Ledger, tmp_path: Path
) -> None:
    world = make_world(ledger, tmp_path / "home", lease_s=0.9)
    told: list[OutsideProgress] = []

    async def think(question: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(2.0 if question["seq"] == 2 else 0)
        return {"response": f"answer {question['seq']}"}

    with serve_app(create_app(world.settings, ledger=ledger)) as url:
        report = sit(url, world, tmp_path / "state", think, told=told)
    session_id = world.sessions()[0]["session_id"]
    assert world.answers(session_id) == {seq: f"answer {seq}" for seq in range(1, 7)}
    # It was renewed, not opened again: the generation is still the first.
    assert world.sessions()[0]["lease_generation"] == 1
    assert report.renewed_count >= 4
    assert (report.is_finished, report.sent_count, report.answered_count) == (True, 6, 6)
    assert [(one.done, one.total) for one in told] == [(seq, 6) for seq in range(1, 7)]
    assert told[-1].left_s == 0


def test_after_a_kill_a_kept_answer_is_sent_and_its_question_never_asked_again(
    ledger: Ledger, tmp_path: Path
) -> None:
    world = make_world(ledger, tmp_path / "home")
    session_id = world.sessions()[0]["session_id"]
    asked: list[int] = []

    async def think(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question["seq"])
        return {"response": f"answer {question['seq']}"}

    with serve_app(create_app(world.settings, ledger=ledger)) as url:

        async def die_before_sending() -> None:
            async with HttpCaller(url) as caller:
                with SittingState(tmp_path / "state", url, session_id) as state:
                    keep = state.keep_answer

                    def keep_and_die(seq: int, answer: dict[str, Any]) -> None:
                        keep(seq, answer)
                        if seq == 3:
                            raise KeyboardInterrupt

                    state.keep_answer = keep_and_die  # type: ignore[method-assign]
                    shown = Credentials(token=world.token(session_id))
                    await OutsideSitter(caller, shown, session_id, state, think).sit()

        with pytest.raises(KeyboardInterrupt):
            asyncio.run(die_before_sending())
        assert sorted(world.answers(session_id)) == [1, 2]
        # A kill may also tear the line that was being written.
        with (tmp_path / "state/answers.jsonl").open("a") as file:
            file.write('{"seq": 4, "respon')
        report = sit(url, world, tmp_path / "state", think)
    assert world.answers(session_id) == {seq: f"answer {seq}" for seq in range(1, 7)}
    assert asked == [1, 2, 3, 4, 5, 6]
    assert (report.sent_count, report.replayed_count) == (4, 1)
    receipts = [json.loads(line) for line in (tmp_path / "state/receipts.jsonl").read_text().splitlines()]
    assert [row["seq"] for row in receipts] == [1, 2, 3, 4, 5, 6]
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_reply_that_was_lost_is_no_second_answer_and_a_late_answer_no_end(
    ledger: Ledger, tmp_path: Path
) -> None:
    world = make_world(ledger, tmp_path / "home", question_s=0.5)
    session_id = world.sessions()[0]["session_id"]

    async def think(question: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(1.0 if question["seq"] == 4 else 0)
        return {"response": f"answer {question['seq']}"}

    with serve_app(create_app(world.settings, ledger=ledger)) as url:
        report = sit(url, world, tmp_path / "state", think)
    assert {seq: text for seq, text in world.answers(session_id).items() if text} == {
        seq: f"answer {seq}" for seq in (1, 2, 3, 5, 6)
    }
    assert (report.late_count, report.sent_count, report.is_finished) == (1, 5, True)


def test_a_token_that_ends_is_read_again_from_its_file(ledger: Ledger, tmp_path: Path) -> None:
    world = make_world(ledger, tmp_path / "home")
    session_id = world.sessions()[0]["session_id"]
    file = tmp_path / "token"
    file.write_text(world.token(session_id))
    ended = Credentials(token=world.token(session_id, ttl_s=-60), token_file=file)

    async def think(question: dict[str, Any]) -> dict[str, Any]:
        return {"response": "true"}

    with serve_app(create_app(world.settings, ledger=ledger)) as url:
        report = sit(url, world, tmp_path / "state", think, credentials=ended)
        assert report.is_finished
        with pytest.raises(ExamError, match="expired"):
            gone = Credentials(token=world.token(session_id, ttl_s=-60))
            sit(url, world, tmp_path / "state", think, credentials=gone)


def test_a_token_without_a_session_finds_the_first_that_is_not_closed() -> None:
    pages: dict[str, dict[str, Any]] = {
        "/sessions": {"sessions": [{"session_id": "s1", "status": "closed"}], "next_after": "s 1"},
        "/sessions?after=s%201": {
            "sessions": [{"session_id": "s2", "status": "planned"}],
            "next_after": None,
        },
    }

    class Pages(HttpCaller):
        async def call(self, method: str, path: str, *_: Any, **__: Any) -> Any:
            return pages[path]

    assert asyncio.run(Credentials(token="a.b.c").find_session(Pages("http://unused"))) == "s2"
    pages["/sessions?after=s%201"]["sessions"] = []
    with pytest.raises(UsageError, match="1 are closed"):
        asyncio.run(Credentials(token="a.b.c").find_session(Pages("http://unused")))


def test_an_address_that_sends_callers_on_is_said_and_nothing_follows_it() -> None:
    asked: list[str] = []

    class Redirecting(Handler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send(301, {}, {"Location": "/elsewhere"})

    with serve(Redirecting) as port:

        async def call() -> None:
            async with HttpCaller(f"http://127.0.0.1:{port}", patience_s=5) as caller:
                await caller.call("GET", "/sessions/s-1/next", "token")

        with pytest.raises(DoorError, match="sends callers to another address"):
            asyncio.run(call())
    assert asked == ["/sessions/s-1/next"]


def test_a_folder_of_another_sitting_is_refused_and_one_in_use_is_left_alone(tmp_path: Path) -> None:
    with SittingState(tmp_path / "state", "http://one", "s1") as first:
        assert len(first.lease_secret) >= 32
        with (
            pytest.raises(UsageError, match="Another process"),
            SittingState(tmp_path / "state", "http://one", "s1"),
        ):
            raise AssertionError
    with (
        pytest.raises(UsageError, match="holds the sitting of session 's1'"),
        SittingState(tmp_path / "state", "http://one", "s2"),
    ):
        raise AssertionError
    with SittingState(tmp_path / "state", "http://one", "s1") as again:
        assert again.lease_secret == first.lease_secret


def test_an_answer_is_signed_over_session_position_and_hash(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    path = tmp_path / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    signature = sign_answer(read_signing_key(path), "s-1", 7, "对")
    # The bytes are written out: whoever checks them elsewhere must come to the same.
    assert write_signed_bytes("s-1", 7, "对").decode() == (
        '{"answer_sha256":"74570c72706a38b1dcaef58d6236a48457feee467acf65acae3604fa64c02a89","seq":7,"session_id":"s-1"}'
    )
    key.public_key().verify(base64.b64decode(signature), write_signed_bytes("s-1", 7, "对"))
    path.write_text("no key")
    with pytest.raises(UsageError, match="openssl genpkey"):
        read_signing_key(path)


def test_a_program_that_fails_is_tried_again_and_then_stops_the_sitting(tmp_path: Path) -> None:
    question = {
        "seq": 1,
        "prompt_style": "few_shot",
        "content": {"question_type": "true_false", "language": "en", "stem": "Water is wet.", "options": []},
    }
    marker = tmp_path / "failed"
    program = (
        "import json, pathlib, sys; q = json.load(sys.stdin); p = pathlib.Path(sys.argv[1]);"
        "sys.exit(p.write_text('') or 3) if not p.exists() else print(q['prompt'][:30], q['content']['stem'])"
    )
    words = shlex.join([sys.executable, "-c", program, str(marker)])
    answer = asyncio.run(CommandAnswerer(words, timeout_s=60)(question))
    assert answer == {
        "response": "Here are some examples first.\n Water is wet.",
        "attempts": 2,
        "prompt_version": "1/few_shot/true_false/en",
    }
    with pytest.raises(NoAnswer, match="code 1 for question 1, 3 times"):
        asyncio.run(CommandAnswerer("false", timeout_s=60)(question))
    # What the program started may hold its pipes: it ends with it.
    late = tmp_path / "late"
    words = shlex.join(["sh", "-c", f"(sleep 1; touch {shlex.quote(str(late))}) | cat"])
    with pytest.raises(NoAnswer, match=r"'sh' took longer than 0.1 s \(--timeout\) for question 1, 3 times"):
        asyncio.run(CommandAnswerer(words, timeout_s=0.1)(question))
    assert not late.exists()


@pytest.mark.long
@pytest.mark.slow
def test_the_command_killed_and_started_again_asks_nothing_twice(ledger: Ledger, tmp_path: Path) -> None:
    world = make_world(ledger, tmp_path / "home")
    session_id = world.sessions()[0]["session_id"]
    asked = tmp_path / "asked"
    program = tmp_path / "model.py"
    program.write_text(
        "import json, sys, time, pathlib\nq = json.load(sys.stdin)\n"
        f"with open({str(asked)!r}, 'a') as f: f.write(str(q['seq']) + '\\n')\n"
        "time.sleep(0.3 if q['seq'] != 4 else 3)\nprint('answer', q['seq'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")} | {
        "PROCTOR_EXAM_TOKEN": world.token(session_id)
    }
    with serve_app(create_app(world.settings, ledger=ledger)) as url:
        command = [PROCTOR, "exam", "sit", "--url", url, "--state", str(tmp_path / "state"), "--json"]
        command += ["--command", f"{sys.executable} {program}"]
        first = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, start_new_session=True
        )
        give_up_at = time.monotonic() + 60
        while 4 not in map(int, asked.read_text().split() if asked.exists() else []):
            assert first.poll() is None and time.monotonic() < give_up_at
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answered_count"] == 6
    assert world.answers(session_id) == {seq: f"answer {seq}" for seq in range(1, 7)}
    # Question 4 had been asked when it was killed, and not answered: it alone is asked again.
    assert list(map(int, asked.read_text().split())) == [1, 2, 3, 4, 4, 5, 6]
    assert world.token(session_id) not in done.stdout + done.stderr
