"""Held papers on the desk are for coordinators alone; a change carries its session's token."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import deployments.web
from tests.deployments.web.conftest import MakeDesk

DOCUMENT = "aaaaaaaa-0000-4000-8000-000000000001"


@pytest.mark.parametrize("name", ["chen", "ann"])
@pytest.mark.parametrize("path", ["/papers", f"/papers/{DOCUMENT}", f"/papers/{DOCUMENT}/page/1"])
def test_who_does_not_coordinate_finds_no_held_papers(make_desk: MakeDesk, name: str, path: str) -> None:
    assert make_desk().sign_in(name).get(path).status_code == 404


@pytest.mark.parametrize("what", ["reading", "correction", "release"])
def test_who_does_not_coordinate_changes_none(make_desk: MakeDesk, what: str) -> None:
    reply = make_desk().sign_in("chen").post(f"/papers/{DOCUMENT}/{what}", json={"marks": "[]"})
    assert reply.status_code == 404


@pytest.mark.parametrize("what", ["reading", "correction", "release"])
def test_a_change_without_the_token_of_its_session_is_refused(make_desk: MakeDesk, what: str) -> None:
    reply = make_desk().sign_in("cora").post(f"/papers/{DOCUMENT}/{what}", token="", json={"marks": "[]"})
    assert reply.status_code == 403


def test_a_home_without_papers_holds_none(make_desk: MakeDesk) -> None:
    cora = make_desk().sign_in("cora")
    assert "No paper is held." in cora.get("/papers", **{"accept-language": "en"}).text
    assert cora.get(f"/papers/{DOCUMENT}").status_code == 404


def test_no_page_names_a_door_twice() -> None:
    templates = Path(deployments.web.__file__).parent / "templates"
    doors = set(re.findall(r"\('(/[\w/]*)'", (templates / "doors.html").read_text("utf-8")))
    assert "/papers" in doors
    for template in templates.glob("*.html"):
        tools = re.findall(r"{% block tools %}(.*?){% endblock %}", template.read_text("utf-8"), re.DOTALL)
        assert not doors & set(re.findall(r'href="([^"]+)"', " ".join(tools))), template.name
