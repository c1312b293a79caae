"""The server that PREFECT_API_URL names, where it does not answer."""

from __future__ import annotations

import pytest

from deployments.flow_runs.server import fetch_run_lines, read_named_server
from schemas.errors import ProctorError

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
