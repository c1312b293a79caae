"""What takes longer to show of erasures: kills after every step, a lake of before one, a candidate before the policy."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.erasure.erase import finish_erasures, land_erasures
from tasks.erasure.scope import Scope, find_due_runs
from tasks.exam.public.verifier import verify
from tests.second_verifier.verify import verify as verify_again
from tests.tasks.erasure.conftest import CHECKS, LATER, erase, find_marked, hold_home, read_faults
from tests.tasks.exam.world import MONTH
from warehouse.lake.integrity import check_landings
from warehouse.lake.store import open_lake
from warehouse.ledger.engine import open_ledger
from warehouse.ledger.public_log import read_public_entries

ROOT = Path(__file__).parents[3]
RUN = MONTH

pytestmark = pytest.mark.long


def test_a_lake_of_before_the_erasure_is_named_and_erased_again(
    settings: Settings, judged_home: Path, tmp_path: Path
) -> None:
    erase(settings)
    # A lake of before the erasure, beside a ledger of after it.
    older = hold_home(judged_home, tmp_path / "older")
    with open_ledger(settings.ledger_address) as ledger, open_lake(older) as lake:
        land_erasures(ledger, lake)
        assert lake.run_named(CHECKS[0]).height == 36
    both = older.model_copy(update={"ledger_url": SecretStr(settings.ledger_address)})
    finish_erasures(both, every=True)
    with open_lake(both) as lake:
        assert lake.run_named(CHECKS[0]).height == 0


def test_a_candidate_takes_its_answers_back_and_the_policy_takes_the_rest(settings: Settings) -> None:
    (first,) = erase(settings, Scope(model="alpha"), reason="alpha's owner asked for it").erasures
    assert (first.cause, first.session_count, first.answer_count) == ("withdrawal", 1, 6)
    with open_lake(settings) as lake:
        left = lake.query("select distinct model from responses where response is not null order by 1")
        assert left["model"].to_list() == ["beta", "rho"]
        assert set(lake.query("select distinct model from judgements where reason is null")["model"]) == {
            "alpha"
        }
        keeping = settings.model_copy(update={"keep_raw_months": 12})
        assert find_due_runs(lake, settings, LATER) == ()
        assert find_due_runs(lake, keeping, datetime.now(UTC) + timedelta(days=300)) == ()
        due = find_due_runs(lake, keeping, LATER)
    assert due == (RUN,)
    (second,) = erase(settings, Scope(run_ids=due)).erasures
    assert (second.cause, second.session_count) == ("policy", 2)
    with pytest.raises(UsageError, match="no text left to erase"):
        erase(settings, Scope(run_ids=due))
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        bodies = [entry.body for entry in read_public_entries(connection, RUN, ("erasure",))]
    assert [body["sessions"] is None for body in bodies] == [False, True]
    assert verify(str(settings.home / "public")).faults == []
    assert (verify_again(settings.home / "public"), read_faults(settings)) == ([], set())
    assert find_marked(settings) == []


KILLED = """
import os, signal, sys
from tests.tasks.erasure.conftest import LATER, settings_of
from tasks.erasure.erase import erase_texts
from tasks.erasure.scope import Scope

left = int(sys.argv[2])
def step(name):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
erase_texts(settings_of(sys.argv[1]), Scope(month="2026-11"), reason="r", erased_by="cora", now=LATER, step=step)
"""


@pytest.mark.parametrize("steps", range(5))
def test_killed_for_good_after_any_step_nothing_is_doubled(settings: Settings, steps: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(settings.home), str(steps)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    finish_erasures(settings)
    with open_lake(settings) as lake:
        assert lake.query("select count(*) as n from erasures")["n"][0] == 3
        assert lake.query("select count(*) as n from responses")["n"][0] == 18
        assert check_landings(lake).changed == []
    assert (find_marked(settings), read_faults(settings)) == ([], set())
    assert verify(str(settings.home / "public")).faults == []
