"""`settings` and `models add`: files that people edit, too, keep what they wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import Barrier
from multiprocessing.synchronize import Barrier as BarrierType
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.errors import RegistryError
from schemas.settings import HOME_NAME, TOML_NAME, load_settings
from tasks.models.registry import add_model, read_registry, remove_model
from tests.children import start_child
from tests.deployments.test_cli import invoke

HOME = Path("home")
REGISTRY = """\
# Ours; keys never stand here.
providers:
  lab:
    base_url: https://api.lab.example/v1   # the lab's own
    key_variable: LAB_API_KEY

models:
  # the first
  lab-1:
    provider: lab
    organisation: "Lab"
    is_open: false
    roles: [candidate, reference]
"""
ENTRY: dict[str, Any] = {"organisation": "Lab", "is_open": False, "roles": ["candidate"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_HOME", str(HOME))
    load_settings.cache_clear()
    yield tmp_path
    load_settings.cache_clear()


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(REGISTRY)
    return path


def test_a_setting_is_written_where_it_holds_and_comments_stay(folder: Path) -> None:
    (folder / "proctor.toml").write_text("# how we examine\nset_size = 30  # small\n")
    done = invoke(HOME, "settings", "set", "disciplines", "History, Law", "--json")
    assert json.loads(done.stdout)["value"] == ["History", "Law"]
    text = (folder / "proctor.toml").read_text()
    assert "# how we examine" in text
    assert "# small" in text
    assert 'disciplines = ["History", "Law"]' in text


def test_a_new_file_is_made_and_holds_at_once(folder: Path) -> None:
    assert invoke(HOME, "settings", "set", "set_size", "90").exit_code == 0
    assert invoke(HOME, "settings", "set", "set_size", "60").exit_code == 0
    assert load_settings().set_size == 60
    rows = {
        row["setting"]: row
        for row in json.loads(invoke(HOME, "settings", "list", "--changed", "--json").stdout)
    }
    assert rows["set_size"]["value"] == "60"
    assert rows["set_size"]["from"].endswith("proctor.toml")
    assert rows["home"]["from"] == "PROCTOR_HOME"
    assert "repeats" not in rows
    # A home that was found is nobody's choice.
    (folder / HOME_NAME).mkdir()
    assert "home" not in invoke(None, "settings", "list", "--changed").stdout.split()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("set_sise", "3", "Did you mean 'set_size'?"),
        ("set_size", "many", "valid integer"),
        ("disciplines", "Histry", "Did you mean 'History'? Correct it"),
        ("prompt_styles", "zero_shot, two_shot", "there is no 'two_shot'"),
        ("ledger_url", "postgresql://me:secret@host/db", "PROCTOR_LEDGER_URL"),
    ],
)
def test_what_cannot_be_set_is_one_clear_error(folder: Path, name: str, value: str, said: str) -> None:
    done = invoke(HOME, "settings", "set", name, value)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "secret" not in done.stderr
    assert not (folder / "proctor.toml").exists()


def test_a_file_that_is_no_toml_is_named_and_left_as_it_is(folder: Path) -> None:
    (folder / "proctor.toml").write_text("set_size = = 3\n")
    done = invoke(HOME, "settings", "set", "set_size", "4")
    assert done.exit_code == 2
    assert "proctor.toml is no TOML" in done.stderr
    assert (folder / "proctor.toml").read_text() == "set_size = = 3\n"


def test_a_file_in_another_encoding_and_a_folder_that_is_gone_are_one_sentence_each(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "proctor.toml").write_bytes("# 预算\nset_size = 3\n".encode("gb18030"))
    for words in (("settings", "list"), ("settings", "set", "set_size", "4")):
        done = invoke(HOME, *words)
        assert (done.exit_code, "proctor.toml is no TOML in UTF-8" in done.stderr) == (2, True)
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    done = invoke(folder, "status")
    assert (done.exit_code, "The working folder is no longer there" in done.stderr) == (2, True)


def test_shares_are_written_as_an_object_and_what_is_wrong_in_the_file_can_be_set_right(folder: Path) -> None:
    (folder / "proctor.toml").write_text('disciplines = "Foo"\n')
    assert invoke(HOME, "settings", "set", "disciplines", "History").exit_code == 0
    assert invoke(HOME, "settings", "set", "set_shares", '{"History": 12}').exit_code == 0
    assert invoke(HOME, "settings", "set", "set_size", "12").exit_code == 0
    found = load_settings()
    assert (found.disciplines, found.set_shares, found.set_size) == (("History",), {"History": 12}, 12)


def test_names_in_the_environment_are_written_with_commas_or_as_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("History,Law", ' ["History", "Law"]'):
        monkeypatch.setenv("PROCTOR_DISCIPLINES", text)
        load_settings.cache_clear()
        assert load_settings().disciplines == ("History", "Law")


def test_a_model_is_added_and_what_people_wrote_stays(registry: Path) -> None:
    same = {"base_url": "https://api.lab.example/v1", "key_variable": "LAB_API_KEY"}
    assert add_model(registry, "lab-2", ENTRY | {"input_price_usd": 2.0}, same).provider == "lab"
    other = add_model(registry, "own-1", ENTRY, {"base_url": "http://127.0.0.1:8000/v1"})
    assert other.provider == "lab-2"
    text = registry.read_text()
    for kept in (
        "# Ours; keys never stand here.",
        "# the lab's own",
        "# the first",
        '"Lab"',
        "[candidate, reference]",
    ):
        assert kept in text
    assert list(read_registry(registry).models) == ["lab-1", "lab-2", "own-1"]
    assert yaml.safe_load(text)["models"]["lab-2"]["input_price_usd"] == 2.0


def test_a_registry_is_changed_by_the_entry_and_every_other_line_stays(registry: Path) -> None:
    """Comments after an entry went with it, and a new one came below the next section's."""
    ours = "models:\n  # the first\n  lab-1: &base\n    provider: lab\n    organisation: Lab   # theirs\n"
    kept = (
        "# Top.\nproviders:\n  lab: {base_url: 'https://api.lab.example/v1'}\n\n"
        f"# organisations:\n#   Lab:\n\n{ours}\n# end\n"
    )
    registry.write_text(kept)
    for name in ("own-1", "own-2"):
        add_model(registry, name, ENTRY, {"base_url": "http://127.0.0.1:8000/v1"})
    text = registry.read_text()
    providers, models = text.split("\n\n# organisations:\n#   Lab:\n\n")
    assert providers.endswith("\n  lab-2:\n    base_url: http://127.0.0.1:8000/v1")
    assert models.startswith(f"{ours}  own-1:\n    provider: lab-2\n")
    assert models.endswith("\n\n# end\n")
    remove_model(registry, "own-2")
    remove_model(registry, "own-1")
    assert registry.read_text() == kept

    with pytest.raises(RegistryError, match="lab-1 is the only model"):
        remove_model(registry, "lab-1")
    assert registry.read_text() == kept


@pytest.mark.parametrize("written", [json.dumps, partial(yaml.safe_dump, default_flow_style=None)])
def test_a_registry_in_braces_is_written_line_by_line(
    registry: Path, written: Callable[[object], str]
) -> None:
    former = yaml.safe_load(registry.read_text())
    registry.write_text(written(former))
    add_model(registry, "own-1", ENTRY, {"base_url": "http://127.0.0.1:8000/v1"})
    remove_model(registry, "own-1")
    assert yaml.safe_load(registry.read_text()) == former


def test_entries_that_share_their_fields_are_told_apart(registry: Path) -> None:
    """What ended in an alias stayed when it was removed."""
    kept = (
        "# Top.\nproviders:\n  lab: {base_url: 'https://api.lab.example/v1'}\n"
        "organisations: {Lab: {aliases: [L]}}   # theirs\nmodels:\n"
        "  lab-1:\n    provider: lab\n    organisation: Lab\n    parameters: &same\n      temperature: 0\n"
    )
    other = "  lab-2:\n    provider: lab\n    organisation: Lab\n    parameters: *same\n"
    end = "  # after lab-2\n"
    registry.write_text(kept + other + end)
    add_model(registry, "own-1", ENTRY, {"base_url": "https://api.lab.example/v1"})
    assert registry.read_text().startswith(f"{kept}{other}  own-1:\n    provider: lab\n")
    remove_model(registry, "own-1")
    assert registry.read_text() == kept + other + end
    with pytest.raises(RegistryError, match=r"undefined alias 'same'.* Nothing was changed\."):
        remove_model(registry, "lab-1")
    remove_model(registry, "lab-2")
    assert registry.read_text() == kept + end


def test_a_model_that_sees_is_added_by_command(folder: Path) -> None:
    at = ("--url", "http://127.0.0.1:9/v1", "--organisation", "Me")
    assert invoke(HOME, "init").exit_code == 0
    for name, words in (("eyes", ("--sees-pictures",)), ("blind", ())):
        assert invoke(HOME, "models", "add", name, *at, *words).exit_code == 0
    models = read_registry(load_settings().registry_path).models
    assert (models["eyes"].sees_pictures, models["blind"].sees_pictures) == (True, False)


def test_of_two_who_change_a_file_at_once_both_have_changed_it(folder: Path, registry: Path) -> None:
    """Of two processes that read the same, the second wrote without what the first had added."""

    def change(number: int, reached: BarrierType) -> None:
        reached.wait()
        add_model(registry, f"own-{number}", ENTRY, {"base_url": f"http://127.0.0.1:800{number}/v1"})
        reached.wait()
        invoke(HOME, "settings", "set", *(("set_size", "300"), ("repeats", "2"))[number])

    for _ in range(3):
        registry.write_text(REGISTRY)
        (folder / TOML_NAME).write_text("")
        reached = Barrier(2, timeout=60)
        children = [start_child(partial(change, number, reached)) for number in range(2)]
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
        assert set(read_registry(registry).models) == {"lab-1", "own-0", "own-1"}
        assert set((folder / TOML_NAME).read_text().splitlines()) == {"set_size = 300", "repeats = 2"}


def test_a_name_is_registered_once_and_replaced_where_that_is_asked(registry: Path) -> None:
    provider = {"base_url": "http://127.0.0.1:8000/v1"}
    with pytest.raises(RegistryError, match="no model registry"):
        remove_model(registry.parent / "nowhere" / "models.yaml", "lab-1")
    with pytest.raises(RegistryError, match="lab-1 is registered otherwise"):
        add_model(registry, "lab-1", ENTRY, provider)
    assert registry.read_text() == REGISTRY
    # A kill may have come before its other steps: the same again does them, and is no other model.
    added = add_model(registry, "lab-2", ENTRY, provider)
    written = registry.read_text()
    assert add_model(registry, "lab-2", ENTRY, provider) == added
    with pytest.raises(RegistryError, match="lab-2 is registered otherwise"):
        add_model(registry, "lab-2", ENTRY, {"base_url": "http://127.0.0.1:8002/v1"})
    assert registry.read_text() == written
    add_model(registry, "lab-1", ENTRY | {"endpoint_model": "other"}, provider, is_replaced=True)
    assert read_registry(registry).get("lab-1").endpoint_model == "other"


def test_a_provider_goes_with_its_last_model_unless_people_gave_it_limits(registry: Path) -> None:
    def name_providers() -> list[str]:
        return list(yaml.safe_load(registry.read_text())["providers"])

    for port in (8000, 8001):
        add_model(registry, "own-1", ENTRY, {"base_url": f"http://127.0.0.1:{port}/v1"}, is_replaced=True)
    corrected = read_registry(registry).get("own-1")
    assert (corrected.base_url, name_providers()) == ("http://127.0.0.1:8001/v1", ["lab", corrected.provider])
    # A second model keeps it, the last one takes it along.
    add_model(registry, "own-2", ENTRY, {"base_url": "http://127.0.0.1:8001/v1"})
    remove_model(registry, "own-1")
    assert name_providers() == ["lab", corrected.provider]
    remove_model(registry, "own-2")
    assert name_providers() == ["lab"]

    limited = registry.read_text().replace(
        "providers:\n", "providers:\n  slow: {base_url: http://127.0.0.1:9/v1, max_concurrency: 1}\n"
    )
    registry.write_text(limited)
    add_model(registry, "own-3", ENTRY, {"base_url": "http://127.0.0.1:9/v1"})
    remove_model(registry, "own-3")
    assert name_providers() == ["slow", "lab"]


def test_what_the_registry_would_refuse_leaves_the_file_as_it_was(registry: Path) -> None:
    with pytest.raises(RegistryError, match="'judg' is unknown") as refused:
        add_model(registry, "lab-2", ENTRY | {"roles": ["judg"]}, {"base_url": "http://127.0.0.1:8000/v1"})
    assert str(registry) in str(refused.value)
    assert registry.read_text() == REGISTRY
    assert [one.name for one in registry.parent.iterdir()] == ["models.yaml"]


def test_a_model_is_taken_out_and_the_rest_stays(folder: Path, registry: Path) -> None:
    add_model(registry, "lab-2", ENTRY, {"base_url": "http://127.0.0.1:8000/v1"})
    remove_model(registry, "lab-2")
    assert list(read_registry(registry).models) == ["lab-1"]
    assert "# the first" in registry.read_text()
    with pytest.raises(RegistryError, match="there is no model 'lab-2'"):
        remove_model(registry, "lab-2")


def test_a_model_that_another_is_a_variant_of_is_not_taken_out(registry: Path) -> None:
    variant = ENTRY | {"mode": "thinking", "base_model": "lab-1"}
    add_model(registry, "lab-1-thinking", variant, {"base_url": "http://127.0.0.1:8000/v1"})
    before = registry.read_text()
    with pytest.raises(RegistryError, match="lab-1"):
        remove_model(registry, "lab-1")
    assert registry.read_text() == before


def test_a_password_is_not_written_into_a_file_and_the_program_that_prints_it_is(folder: Path) -> None:
    refused = invoke(HOME, "settings", "set", "smtp_password", "hunter2")
    assert refused.exit_code == 2
    assert not (folder / "proctor.toml").exists()
    assert invoke(HOME, "settings", "set", "smtp_password", "command:printf hunter2").exit_code == 0
    assert 'smtp_password = "command:printf hunter2"' in (folder / "proctor.toml").read_text()
    password = load_settings().smtp_password
    assert password is not None
    assert password.get_secret_value() == "hunter2"
    shown = invoke(HOME, "settings", "list", "--changed").stdout
    assert "asked of a program (not shown)" in shown
    assert "hunter2" not in shown


def test_neither_the_address_of_a_web_hook_nor_what_a_program_is_given_is_shown(folder: Path) -> None:
    hook, signer = "https://chat.example:8443/hooks/QZXW", "command:pkcs11-tool --pin QZXW --sign"
    (folder / "proctor.toml").write_text(
        f'notify = ["{hook}", "command:mail -s QZXW ops@example.org"]\nlog_signer = "{signer}"\n'
        'exam_url = "https://ann:QZXW@exam.example"\nweb_url = "https://desk.example"\nwitnesses = ["/mnt/heads"]\n'
        '[sign_in_options.site]\nsecret = "QZXW"\nscope = "command:printf QZXW"\n'
    )
    done = invoke(HOME, "settings", "list", "--changed", "--json")
    in_file = [row for row in json.loads(done.stdout) if row["from"].endswith("proctor.toml")]
    assert {row["setting"]: row["value"] for row in in_file} == {
        "notify": "https://chat.example:8443/…, command:mail …",
        "log_signer": "command:pkcs11-tool …",
        "exam_url": "https://exam.example/…",
        "web_url": "https://desk.example",
        "witnesses": "/mnt/heads",
        "sign_in_options": str(
            {"site": {"secret": "set (not shown)", "scope": "asked of a program (not shown)"}}
        ),
    }
    # Nor is what was just written: a terminal is recorded, too.
    for name, value in (("notify", hook), ("log_signer", signer)):
        written = invoke(HOME, "settings", "set", name, value, "--json")
        assert written.exit_code == 0
        assert "QZXW" not in written.output
        assert value in (folder / "proctor.toml").read_text()
    # Without the word before it a program would be shown with its PIN.
    refused = invoke(HOME, "settings", "set", "log_signer", signer.removeprefix("command:"))
    assert refused.exit_code == 2
    assert "'log_signer'" in refused.output
    assert "QZXW" not in refused.output
