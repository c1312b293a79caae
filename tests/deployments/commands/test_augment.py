"""`augment`, `rules` and `export` as typed: a model's variants from command to bank."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tests.deployments.conftest import copy_new_home
from tests.deployments.demo.kit import fill_workbook
from tests.deployments.test_cli import invoke
from tests.tasks.bank.augment.conftest import make_frame
from tests.tasks.bank.augment.test_drafting import make_choice
from tests.tasks.bank.augment.test_model_variants import make_material
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

# As the demo's registry and profile have it, but that every tenth reply is no JSON.
WRITER = {"kind": "generator", "writing": {"unreadable": 0.1}}
REGISTRY = """
providers: {simulated: {base_url: simulated}}
models:
  sim-writer:
    provider: simulated
    organisation: Writers Guild
    roles: [generator]
    offers_schema: true
    parameters: {temperature: 0.7, max_tokens: 1024}
    input_price_usd: 0.5
    output_price_usd: 1.5
  sim-sitter:
    provider: simulated
    organisation: Sitters
    roles: [candidate]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = Settings(home=tmp_path_factory.mktemp("augment") / "home")
    copy_new_home(settings.home)
    settings.registry_path.write_text(REGISTRY)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name, role in (("ann", "annotator"), ("ben", "annotator"), ("eve", "examiner")):
            add_user(connection, user_id=name, role=role)
    material = make_material("概括材料。", "河流与山脉。")
    with open_lake(settings) as lake:
        lake.land("review_decisions", "b1", make_frame(*map(make_choice, range(1, 9)), material))
    return settings.home


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with start_server(models={"sim-writer": WRITER}) as server:
        yield server.url


def run(home: Path, url: str, *arguments: str, code: int = 0) -> Any:
    done = invoke(home, *arguments, "--json", PROCTOR_NO_SERVER="true", PROCTOR_SIMULATED_URL=url)
    assert done.exit_code == code, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else done.stderr


def test_what_a_model_writes_goes_from_the_command_to_the_bank(home: Path, url: str, tmp_path: Path) -> None:
    augment = ("augment", "--with", "sim-writer", "--budget", "1")
    expected = run(home, url, *augment, "--estimate")
    # Three choices in four have four options each, one of them none but the question; the material is asked about once.
    assert {one["method"]: one["calls"] for one in expected["batches"]} == {
        "declarative_rewrite": 24,
        "material_to_true_false": 1,
    }
    made = run(home, url, *augment)
    assert made["estimate"] == expected
    # What was asked twice was paid twice; the length of a reply is a guess.
    assert 0.3 * made["cost_usd"] < expected["cost_usd"] < 2 * made["cost_usd"]
    assert (made["variants"], made["is_simulated"], made["held_batches"]) == (24, True, 0)
    # One option's reply was no JSON both times: the template's question stays.
    assert (made["drafts"], made["fallbacks"]) == (27, 1)
    assert (made["sampled_drafts"], made["waiting_samples"]) == (2, 2)
    assert 0 < made["cost_usd"] < 1
    assert made["refused_drafts"] > 0
    # Nothing more is written or paid for, and nothing is released, before people have read the sample.
    again = run(home, url, *augment)
    assert (again["writing_calls"], again["released_variants"], again["held_batches"]) == ({}, 0, 2)
    assert (again["estimate"]["calls"], again["estimate"]["cost_usd"]) == (0, 0)

    workbooks = run(home, url, "review", "export", str(tmp_path / "books"))["workbooks"]
    assert sum(fill_workbook(Path(path), []) for path in workbooks) == 4
    run(home, url, "review", "import", *workbooks)
    with open_lake(Settings(home=home), read_only=True) as lake:
        methods = dict(lake.query("select method, count(*) from bank group by method order by method").rows())
        assert methods == {
            "original": 9,
            "declarative_rewrite": 23,
            "material_to_true_false": 4,
            "multiple_choice_to_true_false": 1,
        }
        supports = lake.query("select support from variants where support is not null")["support"]
        material = lake.query("select any_value(material) from bank where material is not null").item()
        assert all(support in material for support in supports)

    broken = run(home, url, "rules", "check", "--out", str(tmp_path / "editors"))
    assert broken["variants"] == 28
    assert broken["broken"]["reply_is_readable"] == made["refused_drafts"]
    page = Path(broken["page"]).read_text("utf-8")
    assert "The model&#39;s reply is the JSON object that was asked for." in page

    out = tmp_path / "bank.jsonl"
    shared = ("bank", "export", str(out), "--format", "jsonl")
    assert run(home, url, *shared)["rows"] == 37
    assert "answer" not in json.loads(out.read_text("utf-8").split("\n")[0])
    run(home, url, *shared, "--with-answers", "--as", "ann", code=2)
    assert run(home, url, *shared, "--with-answers", "--as", "eve")["with_answers"]
    assert "answer" in json.loads(out.read_text("utf-8").split("\n")[0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--methods", "poem"), "There is no method 'poem'"),
        (("--methods", "paraphrase"), "paraphrase needs a model"),
        (("--with", "nobody"), "there is no model 'nobody'"),
        (("--with", "sim-sitter"), "model 'sim-sitter' has the roles candidate"),
        (("--with", "sim-sitter", "--estimate"), "needs the role `generator`"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    home: Path, url: str, arguments: tuple[str, ...], says: str
) -> None:
    done = invoke(home, "augment", *arguments, PROCTOR_NO_SERVER="true", PROCTOR_SIMULATED_URL=url)
    assert done.exit_code != 0
    assert says in done.stderr


@pytest.mark.parametrize(
    ("price", "limit", "says"),
    [
        ("5000", [], "This would cost about"),
        ("null", [], "This would cost an unknown amount and there is no budget"),
        ("5000", ["--budget", "0.01"], "the budget of $0.01 per review batch will stop it"),
    ],
    ids=["dear", "without a price", "beyond the budget"],
)
def test_nothing_dear_is_paid_where_nobody_can_be_asked(
    home: Path, tmp_path: Path, price: str, limit: list[str], says: str
) -> None:
    registry = tmp_path / "models.yaml"
    # A real model behind an address that nobody answers: a call that was sent would fail in another way.
    registry.write_text(
        REGISTRY.replace("base_url: simulated", "base_url: http://127.0.0.1:9/v1")
        .replace("simulated:", "real:")
        .replace("provider: simulated", "provider: real")
        .replace("sim-writer", "dear-writer")
        .replace("price_usd: 0.5", f"price_usd: {price}")
    )
    variables = {"PROCTOR_NO_SERVER": "true", "PROCTOR_REGISTRY": str(registry)}
    done = invoke(home, "augment", "--with", "dear-writer", *limit, **variables)
    assert done.exit_code != 0
    assert says in done.stderr
    with open_ledger(Settings(home=home).ledger_address) as ledger, ledger.read() as connection:
        query = "SELECT count(*) FROM llm_calls WHERE model = 'dear-writer' AND status = 'done'"
        assert connection.exec_driver_sql(query).scalar_one() == 0


def test_the_rules_are_listed_with_their_examples(home: Path, url: str) -> None:
    rules = run(home, url, "rules", "list")["rules"]
    assert len({rule["name"] for rule in rules}) == len(rules) > 25
    assert all(rule["example"] and rule["texts"] and rule["advice"] for rule in rules)
