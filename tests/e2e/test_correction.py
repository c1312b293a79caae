"""A wrong key in the bank, from the doubt to the months after it, by real commands."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.review.decisions import Edit
from tests.deployments.demo.kit import Verdict, fill_workbook, running_models
from tests.e2e.conftest import BIN, Demo, Home
from tests.e2e.test_kill import start
from warehouse.lake import open_lake

pytestmark = [pytest.mark.prefect, pytest.mark.long]

REASON = "Most models say something else than the key."
SITS, LATER = "2026-12", "2027-01"
# A statement of a choice with one key that the month asks: what an analyst has before them.
PUT = """
    select a.question_uuid, o.question_uuid as original, o.stem, o.options, o.answer, q.document_name
    from allocations a
    join bank b on b.question_uuid = a.question_uuid and b.bank_version = 1 and b.method = 'multiple_choice_to_true_false'
    join bank o on o.question_uuid = a.lineage_uuid and o.bank_version = 1
    join questions q on q.question_uuid = o.question_uuid
    where a.month = $month and len(o.answer) = 1 and len(o.options) > 2
    order by all limit 1
"""
PUBLISHED = (
    "select md5(string_agg(row::varchar, '|' order by row::varchar)) from {} as row where month < $month"
)
VERDICTS = """
    select distinct r.answer, j.key_verdict
    from judgements j join responses r using (month, session_id, seq)
    where j.month = $month and j.question_uuid = $question and j.key_verdict is not null
"""


def ask(home: Home, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
    with open_lake(Settings(home=home.path), read_only=True) as lake:
        return lake.query(query, parameters).rows()


def hash_published(home: Home) -> list[Any]:
    """All that earlier months hold."""
    return [
        ask(home, PUBLISHED.format(name), month=SITS)
        for name in ("allocations", "responses", "judgements", "editions", "edition_stars", "edition_scores")
    ]


def hand_out(home: Home, verdict: Verdict) -> list[str]:
    folder = home.work / f"workbooks-{time.monotonic_ns()}"
    files: list[str] = home.read_json("review", "export", str(folder))["workbooks"]
    for path in files:
        fill_workbook(Path(path), [verdict])
    return files


def kill(process: subprocess.Popen[bytes]) -> None:
    with_seed = int(os.environ.get("PROCTOR_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"PROCTOR_TEST_SEED={with_seed}")
    time.sleep(random.Random(with_seed).uniform(1, 12))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_corrected_key_is_asked_from_the_next_month_on_and_changes_none_before(
    demo: Demo, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    small = {"PROCTOR_SET_SIZE": "20", "PROCTOR_REPEATS": "1", "PROCTOR_NO_SERVER": "true"}
    home = replace(demo.home.copy(tmp_path / "home", **small), bin=BIN, work=work)
    settings = Settings(home=home.path)
    with open_lake(settings, read_only=True) as lake:
        bank = lake.query("select * from current_bank")
    candidates = ("--candidates", "sim-aurora-2,sim-basalt-1", "--yes")
    with running_models(settings, bank) as url:
        home = replace(home, variables={**home.variables, "PROCTOR_SIMULATED_URL": url})
        home.run("evaluate", "--month", SITS, *candidates)
        ((statement, original, stem, options, (key,), document),) = ask(home, PUT, month=SITS)
        right = next(one["label"] for one in options if one["label"] != key)
        before = hash_published(home)
        assigning = ("review", "assign", "--question", statement[:13], "--reason", REASON)

        # Who accepted it does not read it again.
        assert "Nothing was assigned" in home.run(*assigning, exit_code=3).stderr
        for name in ("third", "fourth", "fifth", "sixth"):
            home.run("exam", "user", "add", name, "--role", "annotator")
        given = home.read_json(*assigning)
        assert [one["question_uuid"] for one in given["questions"]] == [original]
        assert home.read_json(*assigning)["is_new"] is False

        edit = Verdict(document, stem[:20], "edit", "see the source", edit=Edit.from_row({"answer": [right]}))
        files = hand_out(home, edit)
        assert len(files) == 2
        home.run("review", "import", files[0])
        kill(start(home, "review", "import", files[1]))
        assert home.read_json(*assigning)["is_new"] is False
        home.run("review", "import", *files)
        # Whatever the kill left, the sweep of every night does it, too, and finds nothing left.
        home.run("dedupe")
        assert home.read_json(*assigning)["is_new"] is False
        assert [one["bank_version"] for one in home.read_json("bank", "versions")] == [1, 2]
        answers = dict(
            ask(home, "select question_uuid, answer from current_bank where lineage_uuid = $of", of=original)
        )
        assert answers[original] == [right]
        assert list(answers.values()).count(["true"]) == 1
        assert ask(
            home, "select distinct revision from current_bank where lineage_uuid = $of", of=original
        ) == [(2,)]
        card = home.read_json("bank", "show", original)
        assert [(one["outcome"], one["doubt"]) for one in card["reviews"]] == [
            ("accepted", None),
            ("accepted", REASON),
        ]

        # The month that asked it is judged by the key that it was drawn with.
        home.run("judge", "--run", f"sim-{SITS}")
        old = ask(
            home, "select answer[1] from bank where question_uuid = $of and bank_version = 1", of=statement
        )
        for answer, verdict in ask(home, VERDICTS, month=SITS, question=statement):
            assert (answer == old[0][0]) == (verdict == "right")
        home.run("publish", f"sim-{SITS}", exit_code=None)
        assert hash_published(home) == before

        # Later months draw from what is right, and never for those who have met it.
        home.run("evaluate", "--month", LATER, *candidates)
        met = "select count(*) from allocations where month = $month and lineage_uuid = $of"
        assert ask(home, met, month=LATER, of=original) == [(0,)]
        assert ask(home, "select distinct bank_version from responses where month = $month", month=LATER) == [
            (2,)
        ]

        # Others find it beyond mending: it leaves, with everything made of it, and everybody can see how much did.
        home.run("review", "assign", "--question", original, "--reason", "No option is right.")
        reject = Verdict(document, stem[:20], "reject", "none is", reject_reason="factual_error")
        home.run("review", "import", *hand_out(home, reject))
        assert ask(home, "select count(*) from current_bank where lineage_uuid = $of", of=original) == [(0,)]
        log = (home.path / "public" / "log.jsonl").read_text()
        assert f'"body":{{"count":{len(answers)},"bank_version":3,"reason":"review rejected them"}}' in log
        assert original not in log
        assert "All holds" in home.run("exam", "verify", str(home.path / "public")).stdout
        assert "every rule is kept" in home.run("validate").stdout
