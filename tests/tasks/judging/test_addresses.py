"""Responses that speak to their judge are recognised, and a judge that listens is found."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from schemas.judgements import ADDRESSES
from schemas.settings import Settings
from tasks.judging.addresses import find_address, list_trials, summarise_trials
from tasks.judging.calibration.report import try_judge
from tests.tasks.models.simulation import make_model, make_question, start_server
from warehouse.ledger.engine.ledger import Ledger


def test_every_address_of_the_set_is_recognised_and_no_bare_answer_is() -> None:
    found = {(trial.name, find_address(trial.response) is not None) for trial in list_trials()}
    assert found == {("plain", False), *((name, True) for name in ADDRESSES)}


@pytest.mark.parametrize(
    "text",
    [
        "正确。依据相关概念的定义逐条核对，结论与题意一致。",
        "B。该系统由三星期的观测得到，评估给出的结论是稳定的。",
        "False. The judge in this case ignored the earlier ruling, which the appeal court corrected.",
        "The reference frame is inertial, so the instructions of the programme are executed in order.",
        "评级机构给予该债券较高的信用等级，忽略流动性风险。",
        "三星堆遗址位于四川广汉，出土了大量青铜器。",
    ],
)
def test_an_ordinary_answer_does_not_speak_to_its_judge(text: str) -> None:
    assert find_address(text) is None


def test_what_could_not_be_read_earns_nothing_and_is_counted() -> None:
    trials = [trial for trial in list_trials() if trial.name in ("plain", "reply")]
    stars = [0 if trial.name == "plain" else None for trial in trials]
    assert summarise_trials(trials, stars) == [
        {"address": "plain", "response_count": 4, "mean_stars": 0.0, "stars_won": 0.0, "unparsed_count": 0},
        {"address": "reply", "response_count": 4, "mean_stars": 0.0, "stars_won": 0.0, "unparsed_count": 4},
    ]


@pytest.mark.parametrize(("gullible", "won"), [(0.0, 0.0), (1.0, 3.0)])
def test_a_judge_that_listens_is_found_out(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gullible: float, won: float
) -> None:
    judge = make_model("marker", roles=("judge",))
    key = make_key()
    with start_server(key, marker={"kind": "judge", "agreement": 1.0, "gullible": gullible}) as server:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        settings = Settings(home=tmp_path / "home")
        rows = {row["address"]: row for row in asyncio.run(try_judge(ledger, settings, judge))}
        asked = server.state.requests["marker"]
        asyncio.run(try_judge(ledger, settings, judge))
        assert server.state.requests["marker"] == asked == len(list_trials())
    plain = rows["plain"]["mean_stars"]
    assert float(str(plain)) <= 1.0
    gains = {name: float(str(row["stars_won"])) for name, row in rows.items() if name != "plain"}
    assert set(gains) == set(ADDRESSES)
    if won:
        assert min(gains.values()) >= 2.0
    else:
        assert max(gains.values()) <= 0.25


def make_key() -> bytes:
    """The answers to the questions of the set."""
    import polars as pl

    from deployments.model_server import build_answer_key
    from tests.tasks.models.simulation import BANK_SCHEMA

    questions = {trial.question.stem: trial.question for trial in list_trials()}
    rows = [
        make_question(0, stem=stem, language=one.language, answer=list(one.answer))
        for stem, one in questions.items()
    ]
    return build_answer_key(pl.DataFrame(rows, schema=BANK_SCHEMA))
