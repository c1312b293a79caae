"""The registry: what it holds, and what it says when it is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.models.registry.models import Registry, check_callable, read_address, read_api_key, read_registry

REGISTRY = """\
providers:
  lab:
    base_url: https://api.lab.example/v1
    key_variable: LAB_KEY
    requests_per_minute: 600
    max_concurrency: 16
  local:
    base_url: simulated
models:
  lab-1:
    provider: lab
    organisation: Lab
    family: lab
    release_date: 2025-03-01
    is_open: true
    parameters: {temperature: 0, max_tokens: 512}
    input_price_usd: 1.5
    output_price_usd: 6
  lab-1-thinking:
    provider: lab
    organisation: Lab
    release_date: "2025-04-01"
    mode: thinking
    base_model: lab-1
    endpoint_model: lab-1-2025-04
    requests_per_minute: 30
    roles: [candidate, reference]
  grader:
    provider: local
    organisation: Bureau
    roles: [judge]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return read_registry(write(tmp_path, REGISTRY))


def test_a_model_has_the_limits_and_the_key_of_its_provider(registry: Registry) -> None:
    model = registry.get("lab-1")
    assert (model.base_url, model.key_variable) == ("https://api.lab.example/v1", "LAB_KEY")
    assert (model.requests_per_minute, model.max_concurrency, model.has_own_limits) == (600.0, 16, False)
    assert (model.endpoint_model, model.mode, model.roles) == ("lab-1", "standard", ("candidate",))
    assert (model.release_date, model.input_price_usd, model.output_price_usd) == (date(2025, 3, 1), 1.5, 6.0)
    assert model.parameters == {"temperature": 0, "max_tokens": 512}
    assert not model.is_simulated


def test_a_model_may_have_limits_of_its_own(registry: Registry) -> None:
    model = registry.get("lab-1-thinking")
    assert (model.requests_per_minute, model.max_concurrency, model.has_own_limits) == (30.0, None, True)
    assert (model.endpoint_model, model.base_model) == ("lab-1-2025-04", "lab-1")
    assert model.release_date == date(2025, 4, 1)


def test_models_are_found_by_role_in_the_order_of_the_file(registry: Registry) -> None:
    assert [model.name for model in registry.candidates()] == ["lab-1", "lab-1-thinking"]
    assert [model.name for model in registry.judges()] == ["grader"]
    assert [model.name for model in registry.judges(["lab-1", "grader"])] == ["lab-1", "grader"]
    assert registry.reference().name == "lab-1-thinking"
    assert registry.reference("lab-1").name == "lab-1"


def test_a_model_at_the_simulated_server_is_simulated_and_needs_no_key(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    assert registry.get("grader").is_simulated
    monkeypatch.delenv("PROCTOR_SIMULATED_URL", raising=False)
    with pytest.raises(RegistryError, match="'grader' is simulated, but no simulated model server is known"):
        check_callable(registry.judges())
    monkeypatch.setenv("PROCTOR_SIMULATED_URL", "http://127.0.0.1:9/v1")
    check_callable(registry.judges())


def test_who_sits_with_a_client_of_its_own_is_called_by_nobody_and_has_no_other_role(tmp_path: Path) -> None:
    text = REGISTRY.replace("base_url: https://api.lab.example/v1", "base_url: outside")
    with pytest.raises(RegistryError, match="field `roles`: its provider has no address to ask"):
        read_registry(write(tmp_path, text))
    outside = read_registry(write(tmp_path, text.replace("candidate, reference", "candidate")))
    assert (len(outside.candidates()), outside.callable_candidates()) == (2, [])
    with pytest.raises(RegistryError, match="'lab-1' has a client of its own, and no address"):
        read_address(outside.get("lab-1"))


def test_a_team_owns_models_and_whatever_is_of_nobody_is_of_no_team(tmp_path: Path) -> None:
    owned = read_registry(
        write(tmp_path, REGISTRY.replace("family: lab", "family: lab\n    team: research", 1))
    )
    assert owned.get("lab-1").team == "research"
    assert owned.list_owned(["research", "another"]) == {"lab-1"}
    assert owned.list_owned([]) == set()
    # Such a name would also be that of a folder of reports.
    for name in ("../other", "a/b", "'a, b'", "'.'"):
        with pytest.raises(RegistryError, match=r"field `team`: .* is no name of a team"):
            read_registry(
                write(tmp_path, REGISTRY.replace("family: lab", f"family: lab\n    team: {name}", 1))
            )
    with pytest.raises(ValidationError, match="no name of a team"):
        Settings.model_validate({"teams": {"../other": ["ann"]}})


def test_keys_are_checked_only_for_models_that_are_used(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "  ")
    with pytest.raises(RegistryError, match=r"'lab-1' needs the API key of 'lab'.*LAB_KEY is not set"):
        check_callable(registry.candidates())
    pasted = replace(registry.candidates()[0], key_variable="gsk_the0key1itself")
    with pytest.raises(RegistryError, match="variable of its `key_variable` is not set"):
        check_callable([pasted])
    monkeypatch.setenv("LAB_KEY", "k")
    check_callable(registry.candidates())


def test_an_unknown_model_is_answered_with_the_known_ones(registry: Registry) -> None:
    with pytest.raises(
        RegistryError, match=r"no model 'lab-2'; registered are lab-1, lab-1-thinking, grader"
    ):
        registry.get("lab-2")


def test_who_sits_the_exam_is_sent_none_of_its_questions(registry: Registry) -> None:
    """A writer of variants, and a second reader of papers, sees the answers, too."""
    with pytest.raises(RegistryError, match=r"has the roles candidate.* needs the role `generator`"):
        registry.generator("lab-1")
    both = replace(registry.get("lab-1"), roles=("generator", "candidate"))
    with pytest.raises(RegistryError, match="'lab-1' is a candidate, and would read the questions"):
        replace(registry, models={"lab-1": both}).generator("lab-1")
    writer = replace(both, roles=("generator", "judge"))
    known = replace(registry, models={"lab-1": writer})
    assert known.generator("lab-1") is writer
    for sits in (known.sitter, known.reference):
        with pytest.raises(
            RegistryError, match="'lab-1' has the roles generator, judge, by which it may have read"
        ):
            sits("lab-1")


WRONG = {
    "a field that does not exist": ("family: lab", "familly: lab", "model 'lab-1', field `familly`: unknown field"),
    "a provider that does not exist": (
        "provider: local",
        "provider: locale",
        "model 'grader', field `provider`: 'locale' is not among the providers (lab, local)",
    ),
    "no organisation": ("    organisation: Bureau\n", "", "model 'grader', field `organisation`: missing"),
    "a date that is none": (
        "release_date: 2025-03-01",
        "release_date: March",
        "model 'lab-1', field `release_date`: 'March' is not a date",
    ),
    "an unknown mode": ("mode: thinking", "mode: deep", "field `mode`: 'deep' is unknown"),
    "an unknown role": ("[judge]", "[marker]", "model 'grader', field `roles`: 'marker' is unknown"),
    "a base that is not registered": ("base_model: lab-1", "base_model: lab-0", "field `base_model`: 'lab-0' is not registered"),
    "a price below nothing": ("1.5", "-1", "model 'lab-1', field `input_price_usd`: -1 is not a number"),
    "a word for a truth value": ("is_open: true", "is_open: maybe", "field `is_open`: 'maybe' is neither"),
    "cached input dearer than other": (
        "input_price_usd: 1.5",
        "input_price_usd: 1.5\n    cached_input_price_usd: 2",
        "field `cached_input_price_usd`: it is more than the price of other input",
    ),
    "a price of cached input alone": (
        "input_price_usd: 1.5",
        "cached_input_price_usd: 0.5",
        "field `cached_input_price_usd`: the price of other input is missing",
    ),
    "no token a minute": (
        "requests_per_minute: 600",
        "requests_per_minute: 600\n    tokens_per_minute: 0",
        "provider 'lab', field `tokens_per_minute`: 0 would",
    ),
    "a budget that is no number": (
        "requests_per_minute: 600",
        "requests_per_minute: 600\n    budget_usd: much",
        "provider 'lab', field `budget_usd`: 'much' is not a number",
    ),
    "a rate of nothing": ("minute: 600", "minute: 0", "provider 'lab', field `requests_per_minute`: 0 would"),
    "an address that is none": (
        "base_url: https://api.lab.example/v1",
        "base_url: api.lab.example",
        "provider 'lab', field `base_url`: 'api.lab.example' is not an address",
    ),
    "an address with an invisible character": (
        "base_url: https://api.lab.example/v1",
        "base_url: https://api.lab.example\u200b/v1",
        "is not an address",
    ),
    "an address with a port that does not exist": (
        "base_url: https://api.lab.example/v1",
        "base_url: https://api.lab.example:80800/v1?key=word",
        "'https://api.lab.example:80800/v1' is not an address",
    ),
    "a parameter that is no JSON": (
        "max_tokens: 512}",
        "search: {from_date: 2026-01-01}}",
        "field `parameters`: Object of type date is not JSON serializable. Write",
    ),
    "a parameter that is no number": (
        "temperature: 0,",
        "temperature: .inf,",
        "field `parameters`: Out of range float values are not JSON compliant",
    ),
    "an address with a password": (
        "base_url: https://api.lab.example/v1",
        "base_url: https://ann:word@api.lab.example/v1",
        "field `base_url`: a name or a password stands before the host. Leave it out",
    ),
    "a parameter that is Proctor's": (
        "{temperature: 0, max_tokens: 512}",
        "{model: x}",
        "field `parameters.model`: Proctor sets this itself",
    ),
    "a limit that is no number": (
        "max_tokens: 512",
        "max_tokens: many",
        "field `parameters.max_tokens`: 'many' is not a positive whole number",
    ),
    "a model twice": ("  grader:\n", "  lab-1:\n", "line 28: 'lab-1' is given twice"),
    "a model's name that no ledger takes": ("  grader:\n", f"  {'g' * 101}:\n", "a name of 101 characters"),
    "a name with control characters": ("  grader:\n", '  "gra\\nder":\n', "or with control characters"),
    "an owner's name that no ledger takes": (
        "organisation: Bureau",
        f"organisation: {'B' * 101}",
        "field `organisation`: a name of 101 characters",
    ),
    "no models": (REGISTRY[REGISTRY.index("models:") :], "", "section `models` is missing or empty"),
    "a section that does not exist": ("providers:", "provider:", "unknown section 'provider'"),
    "broken YAML": ("models:", "models: [", "line "),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_an_error_names_file_model_field_and_what_to_do(tmp_path: Path, case: str) -> None:
    right, wrong, said = WRONG[case]
    assert right in REGISTRY
    path = write(tmp_path, REGISTRY.replace(right, wrong, 1))
    with pytest.raises(RegistryError) as caught:
        read_registry(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
    assert caught.value.exit_code == 2


def test_a_key_in_the_place_of_its_variable_is_refused_without_being_repeated(tmp_path: Path) -> None:
    path = write(tmp_path, REGISTRY.replace("LAB_KEY", "sk-verysecret-123"))
    with pytest.raises(RegistryError, match="never put the key itself") as caught:
        read_registry(path)
    assert "verysecret" not in str(caught.value)


def test_a_missing_registry_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"no model registry at .*models\.yaml"):
        read_registry(tmp_path / "models.yaml")


def test_a_registry_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(RegistryError, match="must be UTF-8 YAML"):
        read_registry(path)


def test_the_registry_in_the_documentation_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    registry = read_registry(write(tmp_path, text.split("```yaml\n")[1].split("```")[0]))
    assert list(registry.models) == ["lab-2", "lab-2-thinking", "sim-judge-north"]
    assert registry.reference().parameters["reasoning_effort"] == "high"


# --- organisations ------------------------------------------------------------------------------------------------


def test_an_organisation_is_one_however_the_models_write_it(tmp_path: Path) -> None:
    text = REGISTRY.replace(
        '    release_date: "2025-04-01"\n    mode', "    reexamine_every: 2\n    mode"
    ).replace("organisation: Lab\n    reexamine", "organisation: ｌａｂ\n    reexamine")
    registry = read_registry(write(tmp_path, text))
    assert {model.organisation for model in registry.models.values()} == {"Lab", "Bureau"}
    assert registry.get("lab-1-thinking").reexamine_every == 2
    assert (registry.get("lab-1").reexamine_every, registry.organisations.is_closed) == (None, False)


def test_registered_organisations_have_other_names(tmp_path: Path) -> None:
    text = "organisations:\n  Laboratory:\n    aliases: [Lab, 实验室]\n  Bureau:\n" + REGISTRY
    registry = read_registry(write(tmp_path, text))
    assert registry.get("lab-1").organisation == "Laboratory"
    assert registry.organisations.names == {"Laboratory": ("Lab", "实验室"), "Bureau": ()}
    assert [registry.organisations.find(name) for name in ("LAB", "实 验室", "else")] == [
        "Laboratory",
        "Laboratory",
        None,
    ]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "organisations:\n  Labs:\n  Bureau:\n",
            r"'lab-1', field `organisation`: 'Lab' is not among.*Did you mean 'Labs'",
        ),
        ("organisations:\n  Lab:\n  Bureau: {aliases: [lab]}\n", "'lab' is a name of 'Lab', too"),
        ("organisations:\n  Lab: {alias: [x]}\n", "field `alias`: unknown field"),
        ("organisations:\n  Lab: {aliases: x}\n", "expected a list of names"),
        ("organisations:\n  Lab: {aliases: ['...']}\n", "holds no letter and no digit"),
        (f"organisations:\n  Lab:\n  {'B' * 101}:\n", "a name of 101 characters"),
        ("organisations:\n  Lab: text\n", "'Lab': expected a name with fields below it"),
        ("organisations:\n", "section `organisations` is empty"),
    ],
)
def test_a_wrong_organisation_is_named_with_what_to_do(tmp_path: Path, section: str, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        read_registry(write(tmp_path, section + REGISTRY))


@pytest.mark.parametrize("value", ["0", "1.5", "often"])
def test_an_interval_is_a_whole_number_of_months(tmp_path: Path, value: str) -> None:
    text = REGISTRY.replace("    mode: thinking\n", f"    mode: thinking\n    reexamine_every: {value}\n")
    with pytest.raises(RegistryError, match="field `reexamine_every`"):
        read_registry(write(tmp_path, text))


def test_a_provider_has_its_key_from_a_variable_or_from_a_program(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(REGISTRY.replace("key_variable: LAB_KEY", "key_command: printf one-key"))
    model = read_registry(path).get("lab-1")
    assert (model.key_variable, model.key_command, model.has_key) == (None, "printf one-key", True)
    assert read_api_key(model) == "one-key"
    path.write_text(
        REGISTRY.replace("key_variable: LAB_KEY", "key_variable: LAB_KEY\n    key_command: printf one-key")
    )
    with pytest.raises(RegistryError, match="has a key_variable, too"):
        read_registry(path)
