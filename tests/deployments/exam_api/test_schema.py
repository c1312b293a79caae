"""Whatever is sent, the API answers within its own description (fuzzed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deployments.exam_api.app import create_app
from tests.tasks.exam.kit import check_ledger
from tests.tasks.exam.world import World

if TYPE_CHECKING:
    import schemathesis


@pytest.mark.parametrize("examples", [2, pytest.param(50, marks=pytest.mark.long)])
def test_no_request_makes_the_server_fail_or_leave_its_description(
    client: TestClient, world: World, examples: int
) -> None:
    # Seconds of imports that only this test needs.
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.core.result import Ok
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    app = create_app(world.settings, ledger=world.ledger)
    session_id = world.sessions()[0]["session_id"]
    tokens = [
        world.token(session_id, permissions=("sit", "list_own_sessions")),
        world.token(
            None,
            user_id="ada",
            permissions=(
                "read_sessions",
                "read_runs",
                "release_sessions",
                "decide_requests",
                "issue_tokens",
                "write_users",
            ),
        ),
        "no.token.atall",
        None,
    ]
    with TestClient(app):
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        for result in schema.get_all_operations():
            assert isinstance(result, Ok)
            operation = result.ok()

            @given(case=operation.as_strategy(), token=st.sampled_from(tokens), is_real=st.booleans())
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def fuzz(case: schemathesis.Case[Any], token: str | None, is_real: bool) -> None:
                if is_real and "session_id" in (case.path_parameters or {}):
                    case.path_parameters["session_id"] = session_id
                if token is not None:
                    case.headers["Authorization"] = f"Bearer {token}"
                case.call_and_validate(checks=checks)

            fuzz()
    with world.ledger.read() as connection:
        assert check_ledger(connection).findings == ()
