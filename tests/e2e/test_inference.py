"""A model and a judge of random weights on a real inference server: they are refused.

The server is llama.cpp's, in an environment of its own that is compiled for this test: minutes. `make test-long` makes it
(`.venv-inference`), or PROCTOR_TEST_INFERENCE_PYTHON names a Python that has it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.test_start import Newcomer

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent / "inference"
PYTHON = Path(os.environ.get("PROCTOR_TEST_INFERENCE_PYTHON", ROOT / ".venv-inference/bin/python"))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PYTHON.exists(), reason=f"no {PYTHON}: `make test-long` makes it"),
]
START_S = 120


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the random model is served."""
    folder = tmp_path_factory.mktemp("weights")
    weights = folder / "random.gguf"
    subprocess.run([PYTHON, HERE / "random_weights.py", weights, "7"], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        str(PYTHON),
        "-m",
        "llama_cpp.server",
        "--model",
        str(weights),
        "--n_ctx",
        "8192",
        "--n_threads",
        "1",
    ]
    command += ["--chat_format", "chatml", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        found = f"http://127.0.0.1:{port}/v1"
        until = time.monotonic() + START_S
        while True:
            try:
                urllib.request.urlopen(f"{found}/models", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()[-2000:]
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.2)
        yield found
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("holds_to_schema", [False, True], ids=["plain", "held to a schema"])
def test_a_random_judge_of_random_models_publishes_nothing(
    url: str, tmp_path: Path, *, holds_to_schema: bool
) -> None:
    newcomer = Newcomer(tmp_path, Path(sys.executable).with_name("proctor"))
    newcomer.type("start", "--yes", "papers")
    newcomer.type("review", "export", "workbooks")
    newcomer.let_review()
    at = ("--url", url, "--input-price", "0", "--output-price", "0", "--open")
    for name, roles in (("random-a", "candidate,reference"), ("random-b", "candidate")):
        newcomer.type(
            "models",
            "add",
            name,
            *at,
            "--organisation",
            f"Lab {name}",
            "--roles",
            roles,
            "--max-tokens",
            "60",
        )
    judge = ("--roles", "judge", "--organisation", "Judges", "--max-tokens", "200")
    newcomer.type("models", "add", "random-judge", *at, *judge)
    if holds_to_schema:
        # As this server takes it, which is not the usual form of `--schema`.
        registry = newcomer.folder / ".proctor" / "models.yaml"
        known = yaml.safe_load(registry.read_text())
        properties = {"stars": {"type": "integer", "enum": [0, 1, 2, 3]}, "reason": {"type": "string"}}
        schema = {"type": "object", "properties": properties, "required": ["stars", "reason"]}
        form = {"type": "json_object", "schema": schema}
        known["models"]["random-judge"]["parameters"]["response_format"] = form
        registry.write_text(yaml.safe_dump(known))
    # It is told before any money is spent.
    told = newcomer.type("models", "check", "--judge", "random-judge", code=3)
    assert "would not pass the gate judge_controls" in told
    told = newcomer.type("start", "--yes", "--styles", "zero_shot", code=3)
    assert "Run 2026-" in told
    assert "judge_controls: random-judge gives reference answers" in told
    assert newcomer.ask("sql", "leaderboard") == []
