"""The simulated server: what it serves, how it starts, that it says what it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.model_server.__main__ import main, read_bank_key
from deployments.model_server.key import build_answer_key, parse_answer_key, read_answer_key
from deployments.model_server.profile import parse_profile, read_profile
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.exam.month import read_current_bank
from tasks.models.registry import read_registry
from tests.fresh import open_new_lake
from tests.tasks.exam.world import make_bank as make_whole_bank
from tests.tasks.models.simulation import make_bank, make_request, start_server
from tests.warehouse.bank_rows import land_bank_rows

ROOT = Path(__file__).parents[3]
PROFILE = ROOT / "deployments" / "model_server" / "profiles" / "demo.yaml"
REGISTRY = ROOT / "deployments" / "demo" / "models.yaml"


def post(url: str, body: object) -> tuple[int, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/chat/completions", raw, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_every_reply_says_that_it_is_simulated() -> None:
    with start_server() as server:
        status, reply = post(server.url, {"model": "sim", "messages": make_request().messages})
    assert (status, reply["system_fingerprint"], reply["object"]) == (200, "simulated", "chat.completion")
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert (
        reply["usage"]["total_tokens"]
        == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]
    )


def test_a_stream_says_that_it_is_simulated_and_ends_with_usage() -> None:
    with start_server() as server:
        body = {"model": "sim", "messages": make_request().messages, "stream": True}
        request = urllib.request.Request(f"{server.url}/chat/completions", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as reply:
            lines = [line[6:] for line in reply.read().decode().split("\n\n") if line]
    chunks = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == "[DONE]"
    assert {chunk["system_fingerprint"] for chunk in chunks} == {"simulated"}
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


def test_the_models_are_listed() -> None:
    with (
        start_server(sim={"owned_by": "Lab"}, judge={"kind": "judge"}) as server,
        urllib.request.urlopen(f"{server.url}/models", timeout=10) as reply,
    ):
        listed = json.loads(reply.read())["data"]
    assert [(model["id"], model["owned_by"]) for model in listed] == [("sim", "Lab"), ("judge", "Simulated")]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"not json", 400, "invalid_request"),
        ({"model": "sim"}, 400, "invalid_request"),
        ({"model": "ghost", "messages": []}, 404, "model_not_found"),
    ],
)
def test_a_wrong_request_is_refused_as_openai_refuses_it(body: object, status: int, code: str) -> None:
    with start_server() as server:
        assert post(server.url, body)[0] == status
        assert post(server.url, body)[1]["error"]["code"] == code


def test_the_same_request_gets_the_same_reply_from_a_server_started_anew() -> None:
    key = build_answer_key(make_bank(20))
    body = {"model": "sim", "messages": make_request(7).messages, "seed": 5}
    texts = []
    for _ in range(2):
        with start_server(key) as server:
            texts.append(post(server.url, body)[1]["choices"][0]["message"]["content"])
    assert texts[0] == texts[1]


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    key, ready = tmp_path / "key.jsonl", tmp_path / "ready"
    key.write_bytes(build_answer_key(make_bank(3)))
    command = [sys.executable, "-m", "deployments.model_server", "--profile", str(PROFILE), "--key", str(key)]
    server = subprocess.Popen([*command, "--port", "0", "--ready-file", str(ready)], stdout=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 300
        while not ready.exists():
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        url = ready.read_text()
        assert url.startswith("http://127.0.0.1:")
        assert post(url, {"model": "sim-summit-1", "messages": make_request().messages})[0] in (200, 429, 500)
    finally:
        os.kill(server.pid, signal.SIGTERM)
    output, _ = server.communicate(timeout=60)
    assert server.returncode == 0
    assert output.decode() == f"Simulated models at {url}\n"


def test_a_home_is_known_by_its_newest_bank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(home=tmp_path / "home")
    with open_new_lake(settings) as lake:
        land_bank_rows(lake, make_whole_bank(3))
        key = build_answer_key(read_current_bank(lake))
    assert read_bank_key(settings.home) == key
    assert main(["--home", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.startswith("There is no lake")


def test_the_command_names_a_profile_that_is_wrong(tmp_path: Path, warm_python: str) -> None:
    profile = tmp_path / "profile.yaml"
    profile.write_text("models: {a: {acuracy: 0.5}}")
    command = [warm_python, "-m", "deployments.model_server", "--profile", str(profile)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 2
    assert "model 'a': unknown field 'acuracy'" in run.stderr


def test_a_port_in_use_is_raised_in_the_thread_that_asked() -> None:
    from deployments.model_server.server import start_model_server

    with start_server() as server:
        port = int(server.url.split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="in use"):
            start_model_server(parse_profile({"models": {"sim": {}}}), port=port)


def test_the_demo_registers_exactly_the_models_that_its_server_plays() -> None:
    registry, profile = read_registry(REGISTRY), read_profile(PROFILE)
    # One more sits in what `demo --everything` adds.
    further = yaml.safe_load((REGISTRY.parent / "further" / "models.yaml").read_text())
    assert {*registry.models, *further} == set(profile.models)
    assert not set(registry.models) & set(further)
    assert all(model.is_simulated for model in registry.models.values())
    for model in registry.models.values():
        played = profile.models[model.name]
        assert played.owned_by == model.organisation
        assert played.is_thinking == (model.mode == "thinking")
    candidates = registry.candidates()
    assert len(candidates) == 6
    assert len({model.organisation for model in candidates}) == 4
    assert registry.reference().name == "sim-summit-1"
    assert [model.name for model in registry.judges()] == ["sim-judge-north", "sim-judge-south"]
    assert registry.generator("sim-writer").roles == ("generator",)


def test_a_key_finds_questions_whatever_their_width_and_spaces() -> None:
    bank = make_bank(2, material="甲 材料", options=[{"label": "A", "text": "ｘ＝１"}])
    key = parse_answer_key(build_answer_key(bank))
    entry = key.find("材料：\n甲材料\n\n第1号命题在给定条件下成立。\nA. x=1")
    assert entry is not None
    assert (entry.answer, entry.discipline, entry.labels) == (("false",), "Science", ("A",))
    assert key.find("第9号命题") is None


def test_a_damaged_key_is_refused_with_its_line(tmp_path: Path) -> None:
    content = build_answer_key(make_bank(2)) + b'{"hash": 1}\n'
    with pytest.raises(UsageError, match="Line 3 of the answer key"):
        parse_answer_key(content)
    with pytest.raises(UsageError, match="cannot be read"):
        read_answer_key(tmp_path / "missing.jsonl")
