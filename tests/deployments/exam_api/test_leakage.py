"""No byte that leaves the server holds what candidates may not know, over a whole bank."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments.exam_api.app import create_app
from deployments.http.server import write_access_lines
from schemas.settings import Settings
from tests.deployments.exam_api.test_app import bearer, held
from tests.hunts import tries
from tests.tasks.exam.world import (
    KEY_MARKER,
    SEED,
    WHY_MARKER,
    World,
    make_bank,
    make_model,
    make_registry,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import run_plans, set_keys, set_numbers, sets, users

QUESTIONS = 60
MARKED = ("answer", "explanation")


class Secrets:
    """What must not be found, in every form of sending, and all bytes that were sent."""

    def __init__(self, world: World) -> None:
        bank = world.bank
        words = {KEY_MARKER, WHY_MARKER, SEED, world.plan.season}
        for column in ("question_uuid", "lineage_uuid", "parent_uuid", "document_id"):
            words |= set(bank[column].drop_nulls().to_list())
        with world.ledger.read() as connection:
            for table in (set_numbers, sets):
                for row in connection.execute(table.select()).mappings():
                    words |= {
                        str(value)
                        for name, value in row.items()
                        if name != "content"
                        and not name.endswith("_at")
                        and isinstance(value, str)
                        and len(value) >= 16
                    }
            words |= {str(row.seed) for row in connection.execute(run_plans.select())}
            words |= {str(row.draw_key) for row in connection.execute(set_keys.select())}
            words |= {row.password_hash for row in connection.execute(users.select()) if row.password_hash}
        keys = world.keys.read()
        words |= {secret.decode() for secret in (keys.lease_secret, *(key.secret for key in keys.keys))}
        self.words = {word for word in words if len(word) >= 8}
        self._forms = {form for word in self.words for form in _write_forms(word)}
        self._seen = bytearray()

    def note(self, reply: Any) -> Any:
        """Remember a reply to its last byte, and the address that was asked."""
        self._seen += str(reply.url).encode() + repr(reply.headers.raw).encode() + reply.content
        return reply

    def add(self, text: str) -> None:
        self._seen += text.encode()

    def find(self) -> list[bytes]:
        """The secrets among what was seen; it begins again with nothing."""
        text = bytes(self._seen).lower()
        self._seen.clear()
        return [form for form in self._forms if form in text]


def _write_forms(word: str) -> Iterator[bytes]:
    raw = word.lower().encode()
    yield raw
    yield raw.replace(b"-", b"")
    yield word.encode().hex().encode()
    for start in range(3):  # base64 of a longer text, wherever the word begins in it
        encoded = base64.b64encode(b" " * start + word.encode())
        yield encoded[4 if start else 0 : -4].lower()


@pytest.fixture
def whole_bank(ledger: Ledger, tmp_path: Any) -> World:
    """A candidate who sits every lineage of the bank."""
    import time

    configuration = Settings(
        home=tmp_path / "home",
        disciplines=("Law",),
        set_size=QUESTIONS,
        repeats=1,
        prompt_styles=("zero_shot",),
        lasting_sets=1,
        anchor_share=0.0,
    )
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank({"Law": QUESTIONS})
    plan = publish(ledger, configuration, registry, bank, candidates=[], outside=["alpha"])
    return World(ledger, configuration, registry, bank, plan, now=time.time())


@pytest.mark.hunt
def test_no_byte_of_any_reply_holds_an_answer_an_identifier_or_a_seed(
    whole_bank: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    world, secrets = whole_bank, Secrets(whole_bank)
    assert len(secrets.words) > 3 * QUESTIONS
    session_id = str(world.sessions()[0]["session_id"])
    app = create_app(world.settings, ledger=world.ledger)
    with (
        caplog.at_level(logging.DEBUG),
        TestClient(write_access_lines(app), raise_server_exceptions=False) as client,
    ):
        token = world.token(session_id, permissions=("sit", "list_own_sessions"))
        lease = secrets.note(
            client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token))
        ).json()
        headers = held(token, lease)
        put = secrets.note(client.get(f"/sessions/{session_id}/next", headers=headers)).json()["question"]
        stems = list[str]()
        while put is not None:
            assert set(put["content"]) == {"question_type", "language", "stem", "material", "options"}
            stems.append(put["content"]["stem"])
            # On the way: a second answer, a question ahead, another's lease, a form that is wrong.
            for body in ({"seq": put["seq"] + 1, "response": "x"}, {"seq": put["seq"]}):
                secrets.note(client.post(f"/sessions/{session_id}/answers", json=body, headers=headers))
            answer = {"seq": put["seq"], "response": "x", "wants_next": True}
            reply = secrets.note(client.post(f"/sessions/{session_id}/answers", json=answer, headers=headers))
            secrets.note(client.post(f"/sessions/{session_id}/answers", json=answer, headers=headers))
            put = reply.json()["question"]
        assert len(stems) == len(set(stems)) == QUESTIONS
        everybody = {
            "eve": ("read_sessions", "read_runs"),
            "ada": ("read_sessions", "read_runs", "write_users"),
        }
        for user_id, permissions in everybody.items():
            own = bearer(world.token(None, user_id=user_id, permissions=permissions))
            for path in (
                "/sessions",
                f"/sessions/{session_id}",
                "/runs",
                f"/runs/{world.plan.run_id}",
                "/users",
            ):
                secrets.note(client.get(path, headers=own))
        secrets.note(client.get("/openapi.json"))
        assert secrets.find() == []

        known = bearer(token)
        texts = st.one_of(st.text(max_size=40), st.sampled_from([session_id, "../", "%00", "next", "sets"]))
        values = st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), texts),
            lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
            max_leaves=5,
        )

        @settings(
            max_examples=tries(10, 30), deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(
            method=st.sampled_from(["GET", "POST", "PATCH", "PUT", "HEAD"]),
            path=st.one_of(
                st.sampled_from(
                    ["/token", "/users", "/runs", "/sessions", f"/sessions/{session_id}/answers"]
                ),
                texts.map(lambda text: f"/sessions/{text}"),
            ),
            body=values,
            is_known=st.booleans(),
        )
        def ask_anything(method: str, path: str, body: Any, is_known: bool) -> None:
            sent = json.dumps(body).encode()
            shown = known if is_known else {}
            try:
                secrets.note(client.request(method, path, content=sent, headers=shown))
            except Exception as error:
                # The client itself does not write such an address; nothing was sent.
                assert type(error).__module__.startswith(("httpx", "urllib"))

        ask_anything()
    output = capfd.readouterr()
    secrets.add(output.out + output.err + caplog.text)
    assert secrets.find() == []


def test_the_search_finds_what_is_planted(whole_bank: World) -> None:
    """The control: every kind of secret, in every form, is found where it is."""
    secrets = Secrets(whole_bank)
    for word in sorted(secrets.words)[:: max(1, len(secrets.words) // 40)]:
        for form in (
            word,
            word.upper(),
            word.encode().hex(),
            base64.b64encode(f"a{word}".encode()).decode(),
            base64.b64encode(f"ab{word}c".encode()).decode(),
        ):
            secrets.add(f'{{"message": "{form}"}}')
            assert secrets.find() != [], (word, form)
