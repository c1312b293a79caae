"""`/docs` on request: the whole description in one page that loads nothing from anywhere."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi.testclient import TestClient

from deployments.exam_api.app import create_app
from deployments.exam_api.reference_page import render_reference
from schemas.settings import Settings
from tests.tasks.exam.world import World


def test_the_page_is_there_on_request_only_and_names_every_call_and_body(world: World) -> None:
    with TestClient(create_app(world.settings, ledger=world.ledger)) as without:
        headers = {"Authorization": f"Bearer {world.token(None)}"}
        assert without.get("/docs", headers=headers).status_code == 404
    with TestClient(create_app(world.settings, ledger=world.ledger, has_docs=True)) as client:
        reply, schema = client.get("/docs"), client.get("/openapi.json").json()
    assert reply.status_code == 200
    assert reply.headers["content-security-policy"].startswith("default-src 'none'")
    for path, item in schema["paths"].items():
        for method in item:
            assert f"<code>{method.upper()} {path}</code>" in reply.text
    for name in schema["components"]["schemas"]:
        assert f'<h3 id="{name}">' in reply.text
    # Nothing is fetched, and nothing is run.
    assert set(re.findall(r'(?:src|href)="([^"#]+)', reply.text)) == {"openapi.json"}
    assert "<script" not in reply.text and "url(" not in reply.text and "@import" not in reply.text
    assert "/docs" not in schema["paths"]


def test_what_stands_in_the_schema_is_escaped() -> None:
    schema = create_app(Settings(home=Path("unused"))).openapi()
    schema["info"]["title"] = "<script>alert(1)</script>"
    assert "<script>" not in render_reference(schema)
