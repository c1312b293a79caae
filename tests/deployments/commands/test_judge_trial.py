"""A judge is tried before money is spent on it, and one that cannot judge is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import GateError
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.editions.kit import publish_and_keep_root
from tests.tasks.judging.controls.planned import ANSWERS, ASKED, open_planned_run
from tests.tasks.models.simulation import start_server

REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  sound: {provider: simulated, organisation: Lab, roles: [judge], input_price_usd: 1.0, output_price_usd: 2.0}
  noisy: {provider: simulated, organisation: Lab, roles: [judge]}
  random: {provider: simulated, organisation: Lab, roles: [judge]}
  mute: {provider: simulated, organisation: Lab, roles: [judge]}
"""
JUDGES: dict[str, dict[str, Any]] = {
    "sound": {"agreement": 1.0},
    "noisy": {"agreement": 1.0, "noise": 0.03},
    "random": {"noise": 1.0},
    "mute": {"unparsed": 1.0},
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """A home with four judges, and the server that they are at."""
    from schemas.settings import Settings

    home = tmp_path_factory.mktemp("tried") / "home"
    settings = Settings(home=home)
    with open_new_lake(settings):
        settings.registry_path.write_text(REGISTRY, "utf-8")
    # What judges are tried with is in no bank; a simulated judge knows it all the same.
    with start_server(b"", models={name: {"kind": "judge", **one} for name, one in JUDGES.items()}) as server:
        yield home, server


def check(tried: tuple[Path, Any], judge: str, *options: str) -> Any:
    home, server = tried
    return invoke(home, "models", "check", "--judge", judge, *options, PROCTOR_SIMULATED_URL=server.url)


@pytest.mark.parametrize("judge", ["sound", pytest.param("noisy", marks=pytest.mark.long)])
def test_a_judge_that_can_judge_is_told_so(tried: tuple[Path, Any], judge: str) -> None:
    done = check(tried, judge, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["is_fit"], found["answers"]) == (True, 30)
    means = {row["kind"]: row["mean_stars"] for row in found["kinds"]}
    assert set(means) == {"reference", "wrong_option", "nonsense", "other", "echo"}
    assert means.pop("reference") > 2.5
    assert max(means.values()) <= 1.5
    asked = tried[1].state.requests[judge]
    assert asked == 30
    # The same month's trial is paid for once.
    assert json.loads(check(tried, judge, "--json").stdout) == found
    assert tried[1].state.requests[judge] == asked


def test_the_cost_is_said_before_anything_is_asked(tried: tuple[Path, Any]) -> None:
    done = check(tried, "sound")
    assert "sound is asked to judge 30 answers of known worth: about $0.0360." in " ".join(
        done.stderr.split()
    )
    lines = " ".join(done.stdout.split())
    assert "reference: 3.00 stars on 10" in lines
    assert "sound judged 0 of 30 wrong and would pass the gate judge_controls." in lines
    assert json.loads(check(tried, "sound", "--json").stdout)["expected_cost_usd"] == pytest.approx(0.036)


@pytest.mark.parametrize(
    ("judge", "reason"),
    [("random", "not more with certainty than"), ("mute", "judges 30 of 30 control answers wrong")],
)
def test_a_judge_that_cannot_is_refused_with_the_reason(
    tried: tuple[Path, Any], judge: str, reason: str
) -> None:
    done = check(tried, judge)
    assert done.exit_code == 3
    said = " ".join(done.stderr.split())
    assert f"{judge} would not pass the gate judge_controls: it " in said
    assert reason in said


def test_models_and_a_judge_are_not_named_together(tried: tuple[Path, Any]) -> None:
    done = check(tried, "sound", "noisy")
    assert done.exit_code == 2
    assert "Name models to check, or one judge to try with --judge; not both." in " ".join(
        done.stderr.split()
    )


def test_a_run_that_a_random_judge_judged_is_refused_and_a_good_one_with_a_little_noise_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "bad", monkeypatch, simulated_random={"noise": 1.0}) as run:
        judged = run.judge()
        assert (judged.judged, judged.controls) == (ANSWERS, 60)
        with pytest.raises(GateError) as refused:
            publish_and_keep_root(run.ledger, run.lake, run.settings, run.run_id)
        said = str(refused.value)
        assert "judge_controls: simulated-random gives reference answers" in said
        assert "keys: simulated-random says something else than the key on" in said
        assert "--override judge_controls --override keys --reason TEXT" in said
    with open_planned_run(
        tmp_path / "good", monkeypatch, simulated_good={"agreement": 1.0, "noise": 0.03}
    ) as run:
        assert run.judge().controls == 60
        edition = publish_and_keep_root(run.ledger, run.lake, run.settings, run.run_id)
        assert (edition.is_new, edition.overridden) == (True, ())
        head = edition.frames["editions"].row(0, named=True)
        assert head["control_count"] == ASKED
        assert head["control_wrong_count"] <= 5
