"""The server that PREFECT_API_URL names, where it does not answer, or refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from deployments.flow_runs.server import fetch_run_lines, read_named_server
from schemas.errors import ProctorError
from tests.deployments.conftest import copy_new_home
from tests.local_server import Handler, serve

# Nothing listens on the port that no service is given.
AWAY = "http://ann:hidden@127.0.0.1:1/api"


def test_a_named_server_is_shown_without_the_password_in_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", AWAY)
    named = read_named_server()
    assert named is not None
    assert (named.shown, named.answers()) == ("http://127.0.0.1:1/api", False)
    with pytest.raises(ProctorError, match=r"http://127\.0\.0\.1:1/api does not give") as refused:
        fetch_run_lines("00000000-0000-0000-0000-000000000000")
    assert "hidden" not in str(refused.value)


class Locked(Handler):
    """A server with another password than ours."""

    def do_GET(self) -> None:
        self.send(401, {"exception_message": "Unauthorized"})

    do_POST = do_GET  # noqa: N815


@pytest.mark.slow
@pytest.mark.parametrize("words", [["report"], ["runs", "start", "seal", "--on-worker"]], ids=" ".join)
def test_a_named_server_that_refuses_the_password_is_named_in_a_sentence(
    tmp_path: Path, warm: Path, words: list[str]
) -> None:
    home = tmp_path / "home"
    copy_new_home(home)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PROCTOR_", "PREFECT_"))
    }
    with serve(Locked) as port:
        done = subprocess.run(
            [str(warm / "proctor"), *words],
            env=kept
            | {"PROCTOR_HOME": str(home), "PREFECT_API_URL": f"http://ann:hidden@127.0.0.1:{port}/api"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    assert done.returncode == 1
    assert f"The Prefect server answered 401 at http://127.0.0.1:{port}/api/" in done.stderr
    assert "PREFECT_API_AUTH_STRING" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr
