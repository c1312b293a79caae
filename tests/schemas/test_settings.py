"""Settings: where they and the home are found, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.settings import GivenSettings, Settings, is_home, load_settings, read_setting


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("PROCTOR_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    load_settings.cache_clear()
    yield
    load_settings.cache_clear()


def test_the_nearest_home_above_is_used_and_a_variable_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / ".proctor").mkdir()
    monkeypatch.chdir(below)
    assert load_settings().home == tmp_path / ".proctor"
    load_settings.cache_clear()
    (tmp_path / "a" / ".proctor").mkdir()
    assert load_settings().home == tmp_path / "a" / ".proctor"
    load_settings.cache_clear()
    monkeypatch.setenv("PROCTOR_HOME", "elsewhere")
    assert load_settings().home == Path("elsewhere")


def test_relative_paths_of_a_toml_start_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "proctor.toml").write_text('home = "state"\nregistry = "models.yaml"\nset_size = 5\n')
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    settings = load_settings()
    assert (settings.home, settings.registry) == (tmp_path / "state", tmp_path / "models.yaml")
    assert settings.set_size == 5


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_toml_that_is_a_link_to_nothing_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_shared: bool
) -> None:
    folder = tmp_path / "shared" if is_shared else tmp_path
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("PROCTOR_SHARED", str(tmp_path / "shared"))
    (folder / "proctor.toml").symlink_to(tmp_path / "of-an-unmounted-disk.toml")
    with pytest.raises(UsageError, match=r"proctor\.toml is no file, or a link to what is not there"):
        load_settings()


def test_a_toml_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "proctor.toml").write_text("set_size = = 5\n")
    with pytest.raises(UsageError, match=r"proctor\.toml"):
        load_settings()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("set_sise = 5", "proctor.toml: There is no setting 'set_sise'. Did you mean 'set_size'?"),
        ("qqq = 5", "proctor.toml: There is no setting 'qqq'. `proctor settings` lists them."),
        ('two_persons = ["plan", "x"]', "Setting 'two_persons.1' (PROCTOR_TWO_PERSONS or proctor.toml): "),
    ],
)
def test_a_line_of_a_toml_that_is_wrong_is_named_as_it_can_be_corrected(
    tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "proctor.toml").write_text(f"{line}\n")
    with pytest.raises(UsageError) as refused:
        load_settings()
    assert said in str(refused.value)


def test_an_unknown_variable_is_refused_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_SETSIZE", "5")
    with pytest.raises(UsageError, match=r"PROCTOR_SETSIZE .* 'PROCTOR_SET_SIZE'"):
        load_settings()


@pytest.mark.parametrize(
    "name", ["PROCTOR_QUIET", "PROCTOR_TEST_ANYTHING", "PROCTOR_LAB_KEY", "PROCTOR_SOFFICE"]
)
def test_variables_that_are_no_settings_are_let_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_settings()
    monkeypatch.setenv(name, "1")
    load_settings.cache_clear()
    assert load_settings() == before


def test_every_variable_that_the_code_or_a_test_reads_is_known() -> None:
    import re

    from schemas.settings import FREE_PREFIX, OTHER_VARIABLES, Settings

    root = Path(__file__).resolve().parents[2]
    known = {f"PROCTOR_{name.upper()}" for name in Settings.model_fields} | OTHER_VARIABLES
    # What the tests read is there for every command that they run.
    for layer in ("schemas", "warehouse", "tasks", "flows", "deployments", "tests"):
        for path in (root / layer).rglob("*.py"):
            for name in re.findall(r"environ\S*\W+(PROCTOR_[A-Z_]+)", path.read_text(encoding="utf-8")):
                assert name in known or name.startswith(FREE_PREFIX), (path, name)


def test_an_empty_or_foreign_folder_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    assert not is_home(tmp_path)
    (tmp_path / "ledger.sqlite").touch()
    assert is_home(tmp_path)


def test_settings_of_somewhere_else_read_nothing_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = GivenSettings(home=tmp_path)
    (tmp_path / "proctor.toml").write_text("set_size = 7\n")
    monkeypatch.chdir(tmp_path)
    for name in (
        "SECRETS",
        "SHARED",
        "REGISTRY",
        "ARCHIVE",
        "PUBLIC",
        "LAKE_DATA",
        "LEDGER_URL",
        "LAKE_CATALOG",
    ):
        monkeypatch.setenv(f"PROCTOR_{name}", "elsewhere")
    assert Settings(home=tmp_path).secrets == Path("elsewhere")
    assert GivenSettings(home=tmp_path) == GivenSettings.model_validate({"home": tmp_path}) == empty
    assert empty.secrets_path == tmp_path / "secrets"


def test_one_folder_names_all_that_hosts_share_and_their_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "proctor.toml").write_text('set_size = 7\nregistry = "models/ours.yaml"\n')
    monkeypatch.setenv("PROCTOR_SHARED", str(shared))
    monkeypatch.setenv("PROCTOR_PUBLIC", str(tmp_path / "public"))
    settings = load_settings()
    assert (settings.set_size, settings.registry_path) == (7, shared / "models/ours.yaml")
    assert (settings.secrets_path, settings.archive_dir) == (shared / "secrets", shared / "archive")
    assert settings.public_dir == tmp_path / "public"


@pytest.mark.parametrize("text", ["inf", "nan"])
def test_a_number_without_an_end_is_no_setting(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_BUDGET_USD", text)
    with pytest.raises(UsageError, match="'budget_usd'"):
        load_settings()


def test_repeats_have_an_end_before_anything_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_REPEATS", "1000000")
    with pytest.raises(UsageError, match=r"'repeats'.* less than or equal to 100"):
        load_settings()


@pytest.mark.parametrize("name", ["session_days", "question_s"])
def test_a_deadline_has_a_date(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"PROCTOR_{name.upper()}", "1e12")
    with pytest.raises(UsageError, match=f"'{name}'"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("notify", 'command:mail -s "late, again" ann', ('command:mail -s "late, again" ann',)),
        (
            "notify",
            '["command:page", "https://chat.example/a,b"]',
            ("command:page", "https://chat.example/a,b"),
        ),
        ("witnesses", "/mnt/heads.jsonl", ("/mnt/heads.jsonl",)),
        ("witnesses", "", ()),
        ("sign_in", "password, openid", ("password", "openid")),
        ("disciplines", "Law, Science, Law", ("Law", "Science")),
        ("teams", '{"research": ["ann"]}', {"research": ("ann",)}),
    ],
)
def test_a_variable_is_read_as_people_write_it(
    name: str, text: str, read: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"PROCTOR_{name.upper()}", text)
    assert getattr(load_settings(), name) == read
    assert getattr(Settings(), name) == read_setting(name, text)


@pytest.mark.parametrize("name", ["notify", "teams", "set_shares", "sign_in_options"])
@pytest.mark.parametrize("text", ['["hidden', '{"hidden', '{"hidden": '])
def test_a_variable_that_is_no_list_or_object_is_named_without_its_value(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "notify":
        text = text.replace("{", "[")
    monkeypatch.setenv(f"PROCTOR_{name.upper()}", text)
    with pytest.raises(UsageError, match=f"PROCTOR_{name.upper()}") as refused:
        load_settings()
    assert "hidden" not in str(refused.value)
