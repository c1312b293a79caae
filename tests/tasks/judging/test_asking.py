"""How a judge is asked: by our kind as ever, by another's under a version of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ContractError, UsageError
from schemas.settings import Settings
from tasks.judging.asking import describe_judging, find_asking, list_judges
from tasks.judging.kinds import JUDGES, ParsedJudgement
from tasks.judging.prompts import REPLY_SCHEMA, render_judging_prompt
from tasks.models.registry import read_registry
from tests.tasks.judging.test_prompts import make_content
from tests.tasks.models.simulation import make_model

REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  one: {provider: simulated, organisation: Lab, roles: [judge]}
  other: {provider: simulated, organisation: Lab, roles: [judge], judge_kind: KIND}
"""


def bring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, version: str = "'2'", stars: str = "1") -> None:
    """Install a package with the kind of judge `gentle` for this test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"gentle_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(
        "from tasks.judging.kinds import ParsedJudgement\n"
        f"class Gentle:\n    version, reply_schema = {version}, None\n"
        "    def write_messages(self, question, response):\n"
        "        return [{'role': 'user', 'content': question.stem + response}]\n"
        f"    def parse_reply(self, text):\n        return ParsedJudgement({stars}, None)\n"
        "GENTLE = Gentle()\n"
    )
    folder = tmp_path / "gentle-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gentle\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text(f"[proctor.judges]\ngentle = {name}:GENTLE\n")
    monkeypatch.setattr(JUDGES, "_others", None)
    monkeypatch.setattr(JUDGES, "_loaded", {})


@pytest.mark.parametrize("language", ["zh", "en"])
def test_our_kind_asks_and_reads_as_ever(language: str) -> None:
    question = make_content(language=language)
    asking = find_asking(make_model("judge", roles=("judge",), offers_schema=True))
    assert (asking.write_messages(question, "A"), asking.name_version(question)) == render_judging_prompt(
        question, "A"
    )
    assert (asking.wording, asking.parameters) == ("1", {"response_format": REPLY_SCHEMA})
    assert asking.parse_reply("Overall Rating: 2").stars == 2


def test_another_kind_is_recorded_by_its_name_and_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bring(monkeypatch, tmp_path)
    asking = find_asking(make_model("judge", judge_kind="gentle", offers_schema=True))
    question = make_content(language="en")
    assert (asking.name_version(question), dict(asking.parameters)) == ("gentle-2/en", {})
    assert asking.write_messages(question, "A") == [{"role": "user", "content": question.stem + "A"}]
    assert asking.parse_reply("whatever") == ParsedJudgement(1, None)


@pytest.mark.parametrize("version", ["'1/2'", "'1-2'", "''", "2"])
def test_a_version_that_cannot_be_recorded_is_refused_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    bring(monkeypatch, tmp_path, version=version)
    with pytest.raises(UsageError, match=r"'gentle' of gentle 1\.2 has the version"):
        find_asking(make_model("judge", judge_kind="gentle"))


@pytest.mark.parametrize("stars", ["4", "-1", "True", "1.5", "'3'"])
def test_stars_that_are_none_are_never_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stars: str
) -> None:
    bring(monkeypatch, tmp_path, stars=stars)
    with pytest.raises(ContractError, match=r"read (-?[\d.]+|True|str) as stars; they are whole"):
        find_asking(make_model("judge", judge_kind="gentle")).parse_reply("text")


def test_a_kind_that_no_package_brings_is_refused_by_model_and_field() -> None:
    with pytest.raises(
        UsageError, match=r"Model 'judge', field `judge_kind`: There is no kind of judge 'blunt'"
    ):
        find_asking(make_model("judge", judge_kind="blunt"))


@pytest.mark.parametrize(
    ("kind", "said"), [("stars", "1"), ("gentle", "1+gentle-2")], ids=["ours alone", "another beside it"]
)
def test_what_a_references_sitting_rests_on_names_every_wording_in_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, said: str
) -> None:
    bring(monkeypatch, tmp_path)
    path = tmp_path / "models.yaml"
    path.write_text(REGISTRY.replace("KIND", kind))
    registry: Any = read_registry(path)
    settings = Settings(home=tmp_path)
    found = describe_judging(registry, settings, is_simulated=True)
    assert found.pop("judge_prompt") == said
    assert describe_judging(registry, settings, is_simulated=False) == {"judge_prompt": "1"}

    path.write_text(
        REGISTRY.replace("KIND", kind).replace("roles: [judge]", "parameters: {seed: 1}, roles: [judge]", 1)
    )
    again = describe_judging(read_registry(path), settings, is_simulated=True)
    assert [name for name, hashed in found.items() if again[name] != hashed] == [min(found)]


@pytest.mark.parametrize("role", ["candidate", "reference"])
def test_a_candidate_is_never_a_judge_in_use(tmp_path: Path, role: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(REGISTRY.replace("roles: [judge], judge_kind: KIND", f"roles: [{role}]"))
    registry = read_registry(path)
    (one,) = list_judges(registry, Settings(home=tmp_path), is_simulated=True)
    assert one.name == "one"
    with pytest.raises(UsageError, match=f"other is a {role} and would judge its own answers"):
        list_judges(registry, Settings(home=tmp_path, judges=("one", "other")), is_simulated=True)
