"""Candidates and a judge that are no simulation: what does not answer is asked for again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from deployments.guide import GivenAnswers, month, talking
from deployments.guide.seats import register_models, register_reader
from deployments.guide.talking import StepError, Talk
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.models.registry import read_registry
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.local_server import Handler, serve
from tests.tasks.ingest.test_assistance import UNNUMBERED
from tests.tasks.models.simulation import start_server

KNOWN = {"own-1", "own-2", "own-judge"}


class Endpoint(Handler):
    """An endpoint that knows three models."""

    def do_GET(self) -> None:
        self.send(200, {"data": [{"id": name} for name in sorted(KNOWN)]})

    def do_POST(self) -> None:
        body = self.read_json()
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ready"}}
        usage = {"prompt_tokens": 12, "completion_tokens": 1}
        is_known = body["model"] in KNOWN
        reply: dict[str, Any] = {"model": body["model"], "choices": [choice], "usage": usage}
        self.send(*((200, reply) if is_known else (404, {"error": {"code": "model_not_found"}})))


@pytest.fixture
def url() -> Iterator[str]:
    with serve(Endpoint) as port:
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Path) -> Iterator[Path]:
    monkeypatch.setattr(talking, "_PROGRAM", (str(warm / "proctor"),))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    copy_new_home(tmp_path / "home")
    load_settings.cache_clear()
    yield tmp_path / "home"
    load_settings.cache_clear()


@pytest.fixture
def simulation() -> Iterator[str]:
    """The address of simulated models: a judge among them is tried like any other."""
    kinds = {name: "judge" if name == "own-judge" else "candidate" for name in sorted(KNOWN)}
    with start_server(b"", models={name: {"kind": kind} for name, kind in kinds.items()}) as server:
        yield server.url


def type_answers(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> list[tuple[str, str | None]]:
    """Somebody types, nothing for the default, and answers again; what was asked, by default."""
    typed = iter(answers)
    asked: list[tuple[str, str | None]] = []

    def prompt(question: str, default: str | None = None) -> str | None:
        asked.append((question, default))
        return next(typed) or default

    monkeypatch.setattr(typer, "prompt", prompt)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    return asked


@pytest.mark.slow
def test_a_simulation_is_recognised_at_its_address_and_asked_for_no_price(
    home: Path, simulation: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # Address, key, owner and names; the judge stands at the same address.
    asked = type_answers(monkeypatch, [simulation, "", "Own lab", "own-1", "", "", "Judges", "own-judge"])
    register_models(Talk(), GivenAnswers())
    assert "Dollars" not in "".join(question for question, _ in asked)
    told = capfd.readouterr().out
    assert "There are: own-1, own-2, own-judge" in told
    assert "own-judge judged 0 of 30 wrong" in told.replace("\n", " ")
    models = read_registry(load_settings().registry_path).models
    assert {name: model.is_simulated for name, model in models.items() if name in KNOWN} == {
        "own-1": True,
        "own-judge": True,
    }
    # A schedule needs a budget, and a budget prices.
    own = [models[name] for name in ("own-1", "own-judge")]
    assert [(model.input_price_usd, model.output_price_usd) for model in own] == [(0.0, 0.0), (0.0, 0.0)]
    # What is answered later than it is asked is said to change nothing, and what is as it stands is not.
    register_models(Talk(), GivenAnswers(url=simulation, organisation="Other lab", judge_prices="2, 8"))
    told = capfd.readouterr().out.replace("\n", " ")
    assert "--organisation change nothing: own-1 is registered as candidate already" in told
    assert "--judge-prices change nothing: own-judge is registered as judge already" in told
    assert "--url" not in told


@pytest.mark.slow
def test_a_wrong_name_is_answered_again_and_leaves_nothing_behind(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # No address of an API, and one at which nothing answers, are asked for again at once.
    first = [
        "api.lab.example",
        "http://127.0.0.1:9/v1",
        url,
        "none",
        "own-1, own-2",
        "Own lab",
        "two",
        "2, 8",
    ]
    first += ["own-1, own-tow, own-1", "own-1, own-tow"]
    # All are asked for again, with what was typed as the default; address, key, owner and prices are as before.
    again = ["", "", "", "", "own-1, own-2"]
    judge = ["", "", "Judges", "0, 0", "own-1", "own-jugde"]
    judge_again = ["", "", "", "", "own-judge"]
    asked = type_answers(monkeypatch, first + again + judge + judge_again)
    # It says the same to everything: a judge that cannot judge is taken out before an exam is paid for.
    with pytest.raises(StepError) as refusal:
        register_models(Talk(), GivenAnswers())
    assert refusal.value.code == 3
    told = capfd.readouterr().out
    assert "$ proctor models check --judge own-judge" in told
    assert "Nothing answers at http://127.0.0.1:9/v1 (" in told
    assert "own-1 is a model there, and owns none. Name whose models they are." in told
    assert "own-1 is named twice. Name each once." in told
    # A name that the address does not list is noticed before it is written.
    assert "The address does not list own-tow. Did you mean 'own-2'?" in told
    assert (
        "Candidates, by their names there, with commas; the first is the reference",
        "own-1, own-tow",
    ) in asked
    # What follows is the guide's to say.
    assert "Next:" not in told
    # Nobody is taken for the owner of the candidates, too; whoever was named before is.
    owners = [default for question, default in asked if question == "Who owns the judge"]
    assert owners == [None, "Judges"]

    models = read_registry(load_settings().registry_path).models
    own = {name: model for name, model in models.items() if model.base_url == url}
    assert {name: model.roles for name, model in own.items()} == {
        "own-1": ("candidate", "reference"),
        "own-2": ("candidate",),
    }
    assert [own["own-2"].input_price_usd, own["own-2"].output_price_usd] == [2.0, 8.0]
    settings = load_settings()
    assert (settings.reference_model, settings.judges) == ("own-1", ("own-judge",))


def test_with_nobody_to_ask_a_wrong_answer_ends_the_step(home: Path, url: str) -> None:
    judge: dict[str, Any] = {"judge": "own-judge", "judge_organisation": "Judges"}
    with pytest.raises(StepError):
        register_models(Talk(is_silent=True), GivenAnswers(url=url, candidates="own-tow", **judge))


@pytest.mark.slow
def test_with_nobody_to_ask_the_options_of_the_next_call_correct_a_wrong_name(home: Path, url: str) -> None:
    judge: dict[str, Any] = {"judge": "own-judge", "judge_organisation": "Judges"}
    given: dict[str, Any] = {"url": url, "organisation": "Own lab", "prices": "0, 0", "judge_prices": "0, 0"}
    with pytest.raises(StepError):
        register_models(Talk(is_silent=True), GivenAnswers(candidates="own-1,own-tow", **judge | given))
    # The same again is as wrong as before.
    with pytest.raises(StepError):
        register_models(Talk(is_silent=True), GivenAnswers())
    # Whether the judge can judge is asked after it is registered; this one cannot.
    with pytest.raises(StepError):
        register_models(Talk(is_silent=True), GivenAnswers(candidates="own-1,own-2", **judge | given))
    models = read_registry(load_settings().registry_path).models
    assert {name for name, model in models.items() if "candidate" in model.roles} == {"own-1", "own-2"}


def test_with_nobody_to_ask_a_missing_judge_is_said_before_anything_is_written(home: Path, url: str) -> None:
    before = load_settings().registry_path.read_bytes()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "--judge"),
        ({"judge": "own-judge"}, "--judge-organisation"),
    ]
    for judge, option in wrong:
        with pytest.raises(UsageError, match=f"give {option}\\."):
            register_models(Talk(is_silent=True), GivenAnswers(url=url, candidates="own-1", **judge))
    assert load_settings().registry_path.read_bytes() == before


def test_an_address_at_which_nothing_answers_is_refused_before_anything_is_written(home: Path) -> None:
    before = load_settings().registry_path.read_bytes()
    given: dict[str, Any] = {"candidates": "own-1", "judge": "own-judge", "judge_organisation": "Judges"}
    with pytest.raises(UsageError, match=r"Nothing answers at http://127\.0\.0\.1:9/v1"):
        register_models(Talk(is_silent=True), GivenAnswers(url="http://127.0.0.1:9/v1", **given))
    assert load_settings().registry_path.read_bytes() == before


def test_a_key_that_is_not_set_is_refused_before_anything_is_written(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OWN_API_KEY", raising=False)
    before = load_settings().registry_path.read_bytes()
    with pytest.raises(UsageError, match="No environment variable OWN_API_KEY is set"):
        register_models(Talk(is_silent=True), GivenAnswers(url=url, key_variable="OWN_API_KEY"))
    assert load_settings().registry_path.read_bytes() == before


def test_the_price_of_a_provider_is_never_guessed(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "k")
    with pytest.raises(UsageError, match="give --prices"):
        register_models(Talk(is_silent=True), GivenAnswers(url=url, key_variable="OWN_API_KEY"))


@pytest.mark.slow
def test_a_model_that_somebody_names_reads_what_the_rules_could_not_and_sits_no_exam(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_NO_SERVER", "true")
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "tides.txt").write_text(UNNUMBERED, encoding="utf-8")
    with start_server(b"", models={"own-reader": {"kind": "generator"}}) as server:
        typed = [server.url, "", "Reading room", "own-reader"]
        asked = type_answers(monkeypatch, typed)
        month._read_papers(Talk(), GivenAnswers(papers=str(papers)), is_later=False)
        assert len(asked) == len(typed)
        assert month._count_read(Talk()) == {"Science": 2}
        assert load_settings().second_reader == "own-reader"
        # from now on it reads without being named, and nobody is asked for it again
        (papers / "more.txt").write_text(UNNUMBERED.replace("海洋学小测", "海岸学小测"), encoding="utf-8")
        type_answers(monkeypatch, ["science"])
        month._read_papers(Talk(), GivenAnswers(papers=str(papers)), is_later=False)
        assert month._count_read(Talk()) == {"Science": 4}
        given: dict[str, Any] = {"url": server.url, "organisation": "Lab", "candidates": "own-reader"}
        given |= {"judge": "own-judge", "judge_organisation": "Other", "are_simulated": True}
        with pytest.raises(UsageError, match="own-reader reads the papers"):
            register_models(Talk(is_silent=True), GivenAnswers(**given))


@pytest.mark.slow
def test_a_reference_that_writes_questions_stays_one_and_is_no_reader(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke(
        home,
        "models",
        "add",
        "own-1",
        "--url",
        url,
        "--organisation",
        "Lab",
        "--roles",
        "generator,reference",
    )
    # Address, key, owner, prices, then the name: that of the reference is asked for again.
    asked = type_answers(monkeypatch, ["", "", "", "0, 0", "own-1", "own-2"])
    assert register_reader(Talk()) == "own-2"
    assert [question for question, _ in asked].count("Reader, by its name there") == 2
    models = read_registry(load_settings().registry_path).models
    assert {name: set(models[name].roles) for name in ("own-1", "own-2")} == {
        "own-1": {"generator", "reference"},
        "own-2": {"generator"},
    }
