"""A release over HTTP that needs a second person: asked, listed, approved, done once."""

from __future__ import annotations

import json

from fastapi.testclient import TestClient

from deployments.exam_api.app import create_app
from tests.deployments.exam_api.conftest import PASSWORD
from tests.tasks.exam.world import World


def test_a_release_is_asked_for_by_one_and_approved_by_another(world: World) -> None:
    settings = world.settings.model_copy(update={"two_persons": ("release",)})
    session_id = str(world.sessions()[0]["session_id"])
    with TestClient(create_app(settings, ledger=world.ledger)) as client:

        def sign_in(name: str) -> dict[str, str]:
            reply = client.post("/token", json={"user_id": name, "password": PASSWORD})
            return {"Authorization": f"Bearer {reply.json()['token']}"}

        eve, ada, ann = sign_in("eve"), sign_in("ada"), sign_in("ann")
        refused = client.post(f"/sessions/{session_id}/release", headers=eve)
        assert (refused.status_code, refused.json()["code"]) == (403, "approval_needed")
        listed = client.get("/approvals", headers=ada).json()
        assert [(one["target"], one["stood_by"], one["state"]) for one in listed["approvals"]] == [
            (session_id, "eve", "asked")
        ]
        codes = [
            client.post("/approvals/1/approve", headers=headers).json().get("code")
            for headers in (eve, ann, ada)
        ]
        assert codes == ["own_request", "permission_missing", None]
        assert client.post("/approvals/1/approve", headers=ada).json()["code"] == "request_decided"
        assert client.post(f"/sessions/{session_id}/release", headers=eve).status_code == 200
        assert client.get("/approvals", headers=eve).json()["approvals"][0]["state"] == "used"
        assert client.post(f"/sessions/{session_id}/release", headers=eve).status_code == 403
    lines = (settings.home / "public/log.jsonl").read_text().splitlines()
    said = [json.loads(line)["body"] for line in lines if json.loads(line)["kind"] == "approve"]
    assert said == [{"what": "release", "target": session_id, "asked_by": "eve", "approved_by": "ada"}]
