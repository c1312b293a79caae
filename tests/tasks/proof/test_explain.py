"""Single steps of the walk from a star back to the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tasks.models import CallFailed
from tasks.proof.explain import _Walker
from tests.local_server import Handler, serve
from tests.tasks.models.simulation import call_one, make_model, make_request
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


@pytest.mark.parametrize(("stars", "is_proven"), [(None, True), (2, False)])
def test_what_a_judge_does_not_take_is_proven_by_its_failed_call_and_gives_no_stars(
    ledger: Ledger, stars: int | None, is_proven: bool
) -> None:
    class Takes(Handler):
        def do_POST(self) -> None:
            is_long = "too long" in str(self.read_json()["messages"])
            choice = {"message": {"content": "2"}, "finish_reason": "stop"}
            self.send(400, {}) if is_long else self.send(200, {"choices": [choice]})

    with serve(Takes) as port:
        model = make_model(base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        call_one(ledger, "", model=model)
        with pytest.raises(CallFailed) as refused:
            call_one(
                ledger, "", make_request(messages=[{"role": "user", "content": "too long"}]), model=model
            )
    row = {
        "judge": "real",
        "occasion": "first",
        "attempt": 1,
        "unit": "session-1",
        "raw": None,
        "stars": stars,
    }
    walker: Any = _Walker.__new__(_Walker)
    walker._seq, walker._language = 1, "en"
    walker._calls = SimpleNamespace(find=lambda *_: refused.value.call_key)
    with ledger.read() as walker._connection:
        (step,) = walker._prove_reply(row)
        walker._language = "zh"
        (chinese,) = walker._prove_reply(row)
    assert (step.step, step.is_proven) == ("reply", is_proven)
    assert ("call" in step.what + step.proof, "调用" in chinese.what + chinese.proof) == (True, True)
    assert not re.search("[a-z]{3}", re.sub(r"[0-9a-f]{12}…|session-1", "", chinese.what + chinese.proof))
