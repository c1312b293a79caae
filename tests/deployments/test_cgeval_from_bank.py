"""Questions of the bank are scored by Gscore, by the commands as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.bank.dedupe import land_bank
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.bank.augment.conftest import make_accepted
from tests.tasks.bank.dedupe.test_landing import land_batch
from tests.tasks.gscore.world import write_registry
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake, share_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

MODELS: dict[str, Any] = {"sim-good": {"accuracy": {"default": 1.0}}}
LIVE = "简述合同的成立要件与生效要件之间的区别。"


def make_free(question_type: str, stem: str, *answer: str, **changes: Any) -> dict[str, Any]:
    given = {"language": "zh", "discipline": "Law", "sub_discipline": "Civil Law", "explanation": None}
    fields = {**given, "question_type": question_type, "options": [], "answer": list(answer), **changes}
    return make_accepted(stem, **fields)


RETIRED = (
    make_free("term_explanation", "善意取得", "无权处分人将财产转让给善意第三人，第三人取得所有权。"),
    make_free("calculation", "125×8-36=", "964", discipline="Science", sub_discipline=None),
    make_free(
        "calculation",
        "一段导线两端的电压为6V，通过的电流为2A，求它的电阻。",
        "R=U/I=6/2=3Ω（6分）",
        discipline="Engineering",
    ),
    make_free(
        "short_answer",
        "Why do courts distinguish between void and voidable contracts?",
        "A void contract binds nobody; a voidable one binds until it is set aside.",
        language="en",
    ),
    make_free(
        "calculation",
        "某股份有限公司的注册资本为五百万元，说明公积金应当怎样计提，以及计提到何时为止。",
        "公司分配当年税后利润时，应当提取利润的百分之十列入公司法定公积金，累计额为注册资本的百分之五十以上的，可以不再提取，不足以弥补亏损的先弥补亏损。",
    ),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    settings = Settings(home=folder)
    with open_new_lake(settings) as lake:
        land_batch(lake, "b1", *RETIRED, make_free("short_answer", LIVE, "成立看合意，生效看合法。"))
        land_bank(lake, settings)
    assert invoke(folder, "init", "--json").exit_code == 0
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        add_user(connection, user_id="eve", role="examiner")
        add_user(connection, user_id="ann", role="analyst")
    write_registry(tmp_path / "models.yaml", *MODELS)
    return folder


def test_retired_questions_of_the_bank_are_written_put_and_scored(home: Path, tmp_path: Path) -> None:
    questions, references = tmp_path / "bank.csv", tmp_path / "references.csv"
    command = ("cgeval", "from-bank", str(questions), str(references))
    with share_lake(), start_server(**MODELS) as server:
        variables = {
            "PROCTOR_REGISTRY": str(tmp_path / "models.yaml"),
            "PROCTOR_SIMULATED_URL": server.url,
            "PROCTOR_QUIET": "1",
        }

        def run(*arguments: str, exit_code: int = 0) -> Any:
            done = invoke(home, *arguments, "--json", **variables)
            assert done.exit_code == exit_code, (arguments, done.output, done.exception)
            printed = json.loads(done.stdout)
            return printed.get("error", printed)

        assert "6 can still be asked" in run(*command, "--as", "eve", exit_code=2)
        for question in RETIRED:
            run("bank", "retire", question["question_uuid"], "--reason", "of an old course", "--yes")
        for who, says in (((), "give --as"), (("--as", "ann"), "is analyst")):
            assert says in run(*command, *who, exit_code=2)
        assert not questions.exists()
        assert not references.exists()

        written = run(*command, "--as", "eve")
        assert written["by_kind"] == {"arithmetic": 1, "definition": 1, "short_answer": 1, "word_problem": 1}
        assert (written["left_out_live"], written["left_out_without_final_answer"]) == (1, 1)
        assert LIVE not in questions.read_text("utf-8-sig")
        assert [path.stat().st_mode & 0o777 for path in (questions, references)] == [0o600, 0o600]
        before = (questions.read_bytes(), references.read_bytes())
        run(*command, "--as", "eve")
        assert (questions.read_bytes(), references.read_bytes()) == before
        finals = pl.read_csv(references, infer_schema=False)["reference_answer"].drop_nulls()
        assert sorted(finals) == ["3Ω", "964"]

        imported = run("cgeval", "import", str(questions))
        assert (imported["questions"], imported["categories"], imported["subjects"]) == (4, 3, 2)
        answering = ("--model", "sim-good", "--run", "bank")
        assert run("cgeval", "answer", *answering)["answered"] == 4
        scoring = ("--references", str(references), "--embedding", "none")
        scored = run("cgeval", "score", *answering, *scoring)
        assert (scored["scored"], scored["quarantined"], scored["without_reference"]) == (4, 0, 0)
    with open_lake(Settings(home=home), read_only=True) as lake:
        by_category = lake.run_named("gscore_by_category").filter(pl.col("category").is_not_null())
        by_subject = lake.run_named("gscore_by_subject")
    assert by_category["category"].to_list() == ["Engineering", "Law", "Science"]
    # The simulated candidate works the sum out: its right result is the bank's.
    assert by_category["accuracy"].to_list() == [0, None, 100]
    assert by_subject.select("category", "subject").rows() == [
        ("Engineering", "Civil Law"),
        ("Law", "Civil Law"),
        ("Science", "Science"),
    ]
