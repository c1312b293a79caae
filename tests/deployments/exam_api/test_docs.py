"""docs/exam-api.md says what is so: its client sits an exam, its codes and routes exist."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from deployments.exam_api.app import create_app
from schemas.settings import Settings
from tasks.exam.protocol.tokens import PERMISSIONS
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.world import World

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/exam-api.md").read_text(encoding="utf-8")


def test_the_client_of_the_page_sits_an_exam_and_resumes_it(world: World) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    client: dict[str, Any] = {}
    exec(code.group(1), client)
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)

    def answer(question: dict[str, Any]) -> str:
        if question["seq"] == 4 and not question["is_repeat"]:
            raise KeyboardInterrupt
        return f"answer {question['seq']}"

    with serve_app(create_app(world.settings, ledger=world.ledger)) as url:
        client["URL"] = url
        with pytest.raises(KeyboardInterrupt):
            client["sit"](
                token, session_id, "a secret of the candidates own".replace(" ", "-") + "-x" * 4, answer
            )
        assert sorted(world.answers(session_id)) == [1, 2, 3]
        client["sit"](
            token, session_id, "a secret of the candidates own".replace(" ", "-") + "-x" * 4, answer
        )
    assert world.answers(session_id) == {seq: f"answer {seq}" for seq in range(1, 7)}


def test_the_client_of_the_page_keeps_its_lease_while_a_model_thinks(world: World) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    client: dict[str, Any] = {}
    exec(code.group(1), client)
    session_id = world.sessions()[0]["session_id"]
    settings = world.settings.model_copy(update={"lease_s": 0.9})

    def think(question: dict[str, Any]) -> str:
        time.sleep(2.0 if question["seq"] == 2 else 0)
        return f"answer {question['seq']}"

    with serve_app(create_app(settings, ledger=world.ledger)) as url:
        client["URL"] = url
        client["sit"](world.token(session_id), session_id, "own-secret-" + "x" * 32, think)
    assert world.answers(session_id) == {seq: f"answer {seq}" for seq in range(1, 7)}
    assert world.sessions()[0]["lease_generation"] == 1


def test_every_code_in_the_source_is_in_the_table_and_the_other_way_round() -> None:
    sources = [*(ROOT / "tasks/exam").rglob("*.py"), *(ROOT / "deployments/exam_api").glob("*.py")]
    sources += [*(ROOT / "deployments/auth").glob("*.py"), ROOT / "tasks/running/approvals.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    raised = set(re.findall(r'(?:ExamError|_error|_reply)\(\s*(?:send, )?\d{3},\s*"([a-z_]+)"', text))
    raised |= {"body_too_large", "busy"}
    table = PAGE.split("## Refusals")[1].split("## The audit log")[0]
    told = set(re.findall(r"`([a-z_]+)`", table))
    # Not met by a client that follows the page: other people's names, an examiner's own mistakes.
    assert raised - told == {"session_unknown", "run_unknown", "not_possible"}
    assert told - raised == set()


def test_the_roles_of_the_page_are_those_of_the_code() -> None:
    table = PAGE.split("| role | may |")[1].split("## Tokens")[0]
    named = {
        name.strip()
        for line in table.splitlines()[2:]
        if "|" in line
        for name in line.split("|")[1].split(",")
    }
    assert named == set(PERMISSIONS)


def test_every_route_and_setting_on_the_page_exists() -> None:
    routes = create_app(Settings(home=Path("unused"))).openapi()["paths"]
    named = {
        re.sub(r"\{id\}", "{session_id}", path) for path in re.findall(r"`(?:GET|POST|PATCH) (/[^`]*)`", PAGE)
    }
    named = {re.sub(r"/users/candidate:MODEL", "/users/{user_id}", path) for path in named}
    assert named - set(routes) == set()
    settings = {name.removeprefix("PROCTOR_").lower() for name in re.findall(r"`(PROCTOR_[A-Z_]+)`", PAGE)}
    assert settings - set(Settings.model_fields) == set()
