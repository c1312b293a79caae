"""No team sees another's model by any route of any application, as these list them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from deployments.auth import Sessions, read_decisions, read_team_routes
from deployments.exam_api import create_app
from deployments.http import PATH
from tasks.report import name_team_folder, read_models, render_reports
from tests.deployments.exam_api.test_app import bearer
from tests.deployments.exam_api.test_roles import BODIES
from tests.deployments.web.watched_home import (
    EXPLANATION,
    MODEL,
    OWN,
    REASON,
    REFERENCE,
    RUN,
    SEARCHED,
    TEAM,
    Watched,
    write_team_registry,
)
from warehouse.lake import open_lake

REFUSALS = (401, 403, 404)
MOVING = "|".join(f'"{name}":"|data-field="{name}">' for name in ("per_minute", "left"))


@pytest.fixture(scope="module")
def others(watched: Watched) -> tuple[str, ...]:
    """Every candidate of others: those of the published run, and rho, which sits."""
    with open_lake(watched.world.settings, read_only=True) as lake:
        sat = lake.query("SELECT DISTINCT model FROM sessions ORDER BY model")["model"].to_list()
    found = (*(name for name in sat if name not in OWN), "rho")
    assert len(found) == 6
    return found


def list_routes(app: Any) -> set[str]:
    return {
        f"{method} {route.path or '/static'}".replace("{user_id:path}", "{user_id}")
        for route in app.routes
        for method in (getattr(route, "methods", None) or ("GET",))
        if isinstance(route, APIRoute) or method == "GET"
    }


def test_every_route_of_every_application_has_a_decision_about_teams(watched: Watched) -> None:
    applications = {
        "web desk": list_routes(watched.client.app),
        "exam API": list_routes(create_app(watched.world.settings, ledger=watched.ledger)),
        # Open to whoever shows its token, and to nobody by role or team: tests/deployments/http/test_metrics.py.
        "metrics": {f"GET {PATH}"},
    }
    decided = read_team_routes()
    assert {name: set(routes) for name, routes in decided.items()} == {
        name: {route.replace("/static/", "/static") for route in routes}
        for name, routes in applications.items()
    }
    assert {one for routes in decided.values() for one in routes.values()} == set(read_decisions())


def test_a_team_sees_its_models_and_no_other_at_any_address_of_the_desk(
    watched: Watched, others: tuple[str, ...]
) -> None:
    mia = watched.sign_in("mia")

    def ask(method: str, path: str, model: str) -> tuple[int, str]:
        address = re.sub(r"\{\w+(:path)?\}", "x", path.replace("{run_id}", RUN).replace("{form}", "csv"))
        asked = {
            "model": model,
            "session": f"{RUN}/{model}/zero_shot/1",
            "seq": "1",
            "edition": f"{RUN}/1",
            "style": "zero_shot",
        }
        if method == "GET":
            query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items())
            reply = mia.get(f"{address}?{query}")
        else:
            reply = mia.post(address, **asked, text=SEARCHED, is_understood="yes")
        # Without the moment at which a reading was made, and what follows from it: they move on.
        said = re.sub(rf"\d\d:\d\d:\d\d|({MOVING})[^<\"]*", "", reply.text) + str(
            reply.headers.get("location")
        )
        return reply.status_code, said

    for route, decision in read_team_routes()["web desk"].items():
        method, path = route.split()
        if route in ("POST /sign-out", "POST /account", "GET /static"):
            continue  # They end her session, take a password, and serve files of the installation.
        nobodys = ask(method, path, "no-such-model")
        for model in (MODEL, others[0], "rho"):
            status, said = ask(method, path, model)
            if model != MODEL and decision in ("own", "role"):
                # What another team owns is answered as what nobody has ever heard of.
                said = said.replace(model, "no-such-model").replace(quote(model), "no-such-model")
                assert (status, said) == nobodys, (route, model)
            met = [name for name in others if re.search(rf"\b{re.escape(name)}\b", said)]
            met += [word for word in (REFERENCE, EXPLANATION, REASON) if word in said]
            assert met == [], (route, model)
            if decision == "role":
                assert status in REFUSALS, (route, model)


def test_what_is_the_teams_own_is_shown_with_its_numbers(watched: Watched, others: tuple[str, ...]) -> None:
    mia = watched.sign_in("mia")
    answers = f"/runs/{RUN}/answers?model={MODEL}"
    behind = f"/answers-of?edition={quote(RUN, safe='')}/1&model={MODEL}&style=zero_shot"
    answer = f"/runs/{RUN}/answer?model={MODEL}&session={quote(f'{RUN}/{MODEL}/zero_shot/1', safe='')}&seq=1"
    for path in ("/results", f"/runs/{RUN}", answers, answer):
        reply = mia.get(path)
        assert (reply.status_code, MODEL in reply.text) == (200, True), path
    assert mia.get(behind).status_code == 303
    assert "An answer at 1." in mia.get(answer).text
    # The run under way: her candidate, and sums of it alone.
    (run,) = mia.get("/runs/progress").json()["runs"]
    (candidate,) = run["candidates"]
    assert candidate["model"] == "alpha"
    assert (run["whole"]["total"], run["whole"]["done"]) == (candidate["total"], candidate["done"])
    (whole,) = watched.sign_in("xu").get("/runs/progress").json()["runs"]
    assert whole["whole"]["total"] == 2 * run["whole"]["total"]
    page = mia.get(f"/runs/{run['run_id']}").text
    assert "alpha" in page and not re.search(r"\brho\b", page)
    assert mia.get(f"/runs/{run['run_id']}/answers?model=rho").status_code == 404
    # Somebody else's look has not left what she may not see in memory for her.
    rival = others[0]
    assert watched.sign_in("xu").get(f"/runs/{RUN}/answers?model={rival}").status_code == 200
    assert mia.get(f"/runs/{RUN}/answers?model={rival}").status_code == 404


def test_a_member_of_a_team_is_told_nothing_by_the_exam_api(watched: Watched) -> None:
    with TestClient(create_app(watched.world.settings, ledger=watched.ledger)) as client:
        session_id = str(watched.world.sessions("alpha")[0]["session_id"])
        token = watched.world.token(
            session_id, user_id="mia", permissions=["read_sessions", "read_runs", "write_users", "sit"]
        )
        for route, decision in read_team_routes()["exam API"].items():
            method, path = route.split()
            address = (
                path.replace("{session_id}", session_id).replace("{user_id}", "mia").replace("{run_id}", "x")
            )
            address = re.sub(r"\{\w+\}", "1", address)
            held = {"X-Lease-Secret": "a-secret-of-somebody-" + "x" * 20, "X-Lease-Generation": "1"}
            reply = client.request(
                method,
                address,
                headers=bearer(token) | held,
                json=BODIES.get((method, path), {}) if method != "GET" else None,
            )
            if decision == "role":
                assert reply.status_code in REFUSALS, (route, reply.status_code, reply.text)
            assert not re.search(r"\brho\b|candidate:", reply.text) or path == "/openapi.json", route


@pytest.fixture
def site(watched: Watched) -> Iterator[Path]:
    """A report of the team's models, made while it owned them."""
    folder = name_team_folder(watched.world.settings, TEAM)
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(f'<html ><nav class="doors">{MODEL}', encoding="utf-8")
    (folder / "models-shown").write_text(json.dumps(sorted(OWN)), encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


def test_a_team_sees_its_report(watched: Watched, site: Path) -> None:
    reply = watched.sign_in("mia").get("/report/")
    assert (reply.status_code, MODEL in reply.text) == (200, True)
    (site / "models-shown").unlink()
    assert MODEL not in watched.sign_in("mia").get("/report/").text


def test_of_a_rendering_that_broke_off_it_is_known_what_it_may_show(
    watched: Watched, site: Path, others: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some pages have a model that another team gets later, others are of before."""
    settings = watched.world.settings
    monkeypatch.setenv("PROCTOR_HOME", str(settings.home))
    entry = f"  {others[0]}: {{provider: lab, organisation: x labs, team: {TEAM}}}\n"
    settings.registry_path.write_text(settings.registry_path.read_text("utf-8") + entry, encoding="utf-8")

    def break_off(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("tasks.report.task.render_site", break_off)
    try:
        with pytest.raises(KeyboardInterrupt):
            render_reports.fn(team=TEAM)
    finally:
        write_team_registry(settings)
    assert read_models(site) == frozenset({*OWN, others[0]})
    assert MODEL not in watched.sign_in("mia").get("/report/").text


@pytest.mark.long
def test_a_rendered_site_names_no_others_model_nor_one_that_was_the_teams_before(
    watched: Watched, others: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, given_away = watched.world.settings, others[0]
    monkeypatch.setenv("PROCTOR_HOME", str(settings.home))
    text = settings.registry_path.read_text("utf-8")
    entry = f"  {given_away}: {{provider: lab, organisation: x labs, team: {TEAM}}}\n"
    folder = name_team_folder(settings, TEAM)
    try:
        for registry, hidden in ((text + entry, others[1:]), (text, others)):
            settings.registry_path.write_text(registry, encoding="utf-8")
            render_reports.fn(team=TEAM)
            told = {path: path.read_text("utf-8") for path in folder.rglob("*.*") if path.name != "vega.js"}
            named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in hidden))
            assert [path.name for path, text in told.items() if named.search(text)] == []
            assert any(MODEL in text for text in told.values())
            assert [
                path.name for path in told if path.suffix == ".html" and "OF ONE TEAM" not in told[path]
            ] == []
    finally:
        write_team_registry(settings)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def without_team(watched: Watched) -> Iterator[None]:
    """The registry gives the team nothing any more."""
    path = watched.world.settings.registry_path
    path.write_text(path.read_text().replace(f"team: {TEAM}", "team: green"), encoding="utf-8")
    yield
    write_team_registry(watched.world.settings)


def test_a_model_that_changes_hands_is_the_former_teams_no_more(
    watched: Watched, site: Path, without_team: None
) -> None:
    mia = watched.sign_in("mia")
    assert mia.get(f"/runs/{RUN}/answers?model={MODEL}").status_code == 404
    replies = [mia.get(path) for path in ("/runs", "/runs/progress", "/results", "/costs", "/report/")]
    assert [reply.status_code for reply in replies] == [200] * 5
    assert not re.search(rf"{MODEL}|alpha|{RUN}", "".join(reply.text for reply in replies))


def test_the_teams_of_a_sign_in_stand_signed_in_its_cookie(watched: Watched) -> None:
    sessions = Sessions(watched.ledger, b"k" * 64)
    cookie = sessions.start("chen", "openid", ("blue", "red"))
    found = sessions.read(cookie)
    assert found is not None and found.teams == ("blue", "red")
    session, expires, _, signature = cookie.split(".")
    more = sessions.start("chen", "openid", ("blue", "green", "red")).split(".")[2]
    assert sessions.read(f"{session}.{expires}.{more}.{signature}") is None
    plain = sessions.read(sessions.start("chen"))
    assert plain is not None and plain.teams == ()
