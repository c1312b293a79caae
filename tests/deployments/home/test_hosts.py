"""Two homes on one PostgreSQL: a host that has keys or registry otherwise is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import Result

from deployments.home import accept_files, check_host, create_home, examine_hosts, list_shared
from deployments.home.hosts import prepare_host
from deployments.http import Listening, exam_server
from schemas.errors import UsageError
from schemas.settings import Settings
from tests.deployments.test_cli import invoke as invoke_command
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.shared_files import read_noted_files
from warehouse.stores.shared_files import ARCHIVE, EXAM_KEYS, KEYS, REGISTRY, find_differences

pytestmark = pytest.mark.service

MODELS = "providers:\n  sim: {base_url: simulated}\nmodels:\n  one: {provider: sim, organisation: Lab, is_open: false}\n"


@pytest.fixture
def first(postgresql: PostgresqlServer, tmp_path: Path) -> Settings:
    """The first home of an installation, as hosts share it, with its registry filled in."""
    settings = make_settings(tmp_path / "first", postgresql.new_ledger_url(), tmp_path)
    prepare_host(settings)
    settings.registry_path.write_text(MODELS)
    check_host(settings)
    return settings


@pytest.fixture
def second(first: Settings, tmp_path: Path) -> Settings:
    """Another home with copies of what hosts share."""
    settings = make_settings(tmp_path / "second", first.ledger_address, tmp_path)
    shutil.copytree(first.secrets_path, settings.secrets_path)
    shutil.copytree(first.archive_dir, settings.archive_dir)
    shutil.copy(first.registry_path, settings.registry_path)
    prepare_host(settings)
    return settings


def make_settings(home: Path, ledger_url: str, shared: Path) -> Settings:
    """A home with its own keys, registry and archive; the lake is a folder that both use."""
    values = {"home": home, "ledger_url": ledger_url, "lake_catalog": f"sqlite:{shared}/catalog.sqlite"}
    return Settings.model_validate(values | {"lake_data": str(shared / "data")})


def list_states(settings: Settings) -> dict[str, str]:
    return {row["name"]: row["state"] for row in list_shared(settings)}


def test_a_host_with_the_same_files_is_one_more_and_everything_was_noted_at_the_beginning(
    first: Settings, second: Settings
) -> None:
    same = dict.fromkeys((*KEYS, REGISTRY, ARCHIVE), "same")
    assert list_states(first) == list_states(second) == same
    check_host(second)
    # Comments, spaces and order say nothing to a model.
    second.registry_path.write_text("# ours\n" + MODELS.replace("base_url: ", "base_url:   "))
    check_host(second)


def test_a_host_that_differs_in_one_file_is_refused_with_its_name(first: Settings, second: Settings) -> None:
    places = {row["name"]: Path(row["path"]) for row in list_shared(second)}
    assert list(places) == [*KEYS, REGISTRY, ARCHIVE]
    for name, path in places.items():
        content = path.read_text()
        path.write_text(f"{content}\nb: 1")
        with pytest.raises(UsageError) as refusal:
            check_host(second)
        assert f"{name} ({path}) is not the installation's" in str(refusal.value)
        assert f"proctor hosts accept {name}" in str(refusal.value)
        assert str(refusal.value).count("noted it on") == 1
        path.unlink()
        with pytest.raises(UsageError, match="is missing here"):
            check_host(second)
        path.write_text(content)
        check_host(second)
    check_host(first)


def test_a_home_with_keys_of_its_own_cannot_join_and_makes_none_in_the_place_of_those_it_lacks(
    first: Settings, tmp_path: Path
) -> None:
    stranger = make_settings(tmp_path / "stranger", first.ledger_address, tmp_path)
    with pytest.raises(UsageError) as refusal:
        create_home(stranger, joins=True)
    for name in (*KEYS, REGISTRY, ARCHIVE):
        assert f"{name} (" in str(refusal.value)
        assert not (stranger.secrets_path / name).exists()
    assert not stranger.registry_path.exists()
    assert not stranger.archive_dir.exists()
    check_host(first)


def test_what_was_changed_on_purpose_is_accepted_and_then_the_other_host_is_refused(
    first: Settings, second: Settings
) -> None:
    first.registry_path.write_text(MODELS.replace("one", "two"))
    with pytest.raises(UsageError, match="is not like the others"):
        check_host(first)

    accept_files(first, [REGISTRY])

    check_host(first)
    with pytest.raises(UsageError, match="each host would pay for its own"):
        check_host(second)
    with open_ledger(first.ledger_address) as ledger, ledger.read() as connection:
        found = connection.exec_driver_sql(
            "SELECT target, user_id FROM access_log WHERE action = 'accept_file'"
        )
        ((target, user),) = found.all()
    assert target == REGISTRY
    assert user
    with pytest.raises(UsageError, match="is not among what hosts share"):
        accept_files(first, ["ledger.sqlite"])


def test_the_exam_api_is_refused_with_keys_of_another_installation_and_asks_for_nothing_else(
    first: Settings, second: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[object] = []
    # Nothing listens here, so it is no matter who else has the port.
    monkeypatch.setattr(exam_server, "check_free", lambda *_: None)
    monkeypatch.setattr(exam_server, "serve_app", lambda *_, **__: served.append(1))
    monkeypatch.setattr(exam_server, "open_exam_database", lambda url, **_: open_ledger(url))
    exam = second.model_copy(update={"exam_database_url": first.ledger_url})
    (second.secrets_path / "league").unlink()
    second.registry_path.unlink()
    exam_server.serve_exam(exam, Listening("127.0.0.1", 8799))
    assert served == [1]
    (second.secrets_path / EXAM_KEYS).unlink()
    with pytest.raises(UsageError, match="would not believe the tokens"):
        exam_server.serve_exam(exam, Listening("127.0.0.1", 8799))
    assert served == [1]


def test_a_run_of_a_worker_is_refused_on_a_host_that_differs(
    first: Settings, second: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What Prefect hands a worker's run. Prefect is imported by the tests that run it: it takes a second of every collection.
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251
    from prefect.context import FlowRunContext  # noqa: TID251

    from tasks.running.flow_runs import flow

    landed: list[int] = []

    @flow
    def land() -> None:
        landed.append(1)

    run = land.fn
    (second.secrets_path / "blinding-key").write_text("0" * 64)
    for settings, seen in ((first, [1]), (second, [1])):
        monkeypatch.setattr("tasks.running.flow_runs.task.load_settings", lambda settings=settings: settings)
        deployed = FlowRun(id=uuid4(), flow_id=uuid4(), deployment_id=uuid4())
        with FlowRunContext.model_construct(flow_run=deployed):  # type: ignore[call-arg]  # no more of it is read
            if settings is second:
                with pytest.raises(UsageError, match="blinding-key"):
                    run()
            else:
                run()
        assert landed == seen


@pytest.mark.long
def test_commands_and_doctor_say_it_and_a_new_key_holds_for_all(first: Settings, second: Settings) -> None:
    shared = {
        "PROCTOR_LEDGER_URL": first.ledger_address,
        "PROCTOR_LAKE_CATALOG": first.catalog_address,
        "PROCTOR_LAKE_DATA": str(first.data_address),
    }

    def invoke(home: Path, *words: str) -> Result:
        return invoke_command(home, *words, **shared)

    assert invoke(first.home, "init").exit_code == 0
    assert invoke(second.home, "init", "--join").exit_code == 0
    rotated = invoke(first.home, "exam", "keys", "rotate")
    assert rotated.exit_code == 0, rotated.stderr
    assert invoke(first.home, "hosts").exit_code == 0

    listed = invoke(second.home, "hosts", "--json")

    assert listed.exit_code == 1
    states = {row["name"]: row["state"] for row in json.loads(listed.stdout)}
    assert states.pop(EXAM_KEYS) == "differs"
    assert set(states.values()) == {"same"}
    refused = invoke(second.home, "ingest", str(first.home), "--no-server")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "This host is not like the others of its installation. exam-keys.json" in refused.stderr
    # What is not the installation's is not made its own by a new key.
    assert invoke(second.home, "exam", "keys", "rotate").exit_code == 2
    notes: list[tuple[object, ...]] = []
    with open_ledger(second.ledger_address) as ledger:
        examine_hosts(second, ledger, lambda *note: notes.append(note))
    assert [(note[0], note[2]) for note in notes] == [("shared by hosts", False)]
    shutil.copy(first.secrets_path / EXAM_KEYS, second.secrets_path / EXAM_KEYS)
    check_host(second)


def test_nothing_that_is_noted_shows_a_key(first: Settings) -> None:
    with open_ledger(first.ledger_address) as ledger, ledger.read() as connection:
        noted = read_noted_files(connection)
        assert find_differences(first, connection) == []
    for name in KEYS:
        content = (first.secrets_path / name).read_text()
        assert len(noted[name].fingerprint) == 64
        assert noted[name].fingerprint not in content
        assert not any(noted[name].fingerprint[at : at + 16] in content for at in range(48))


def test_with_an_embedded_ledger_nothing_is_noted_or_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    (tmp_path / "models.yaml").write_text(MODELS)
    with open_ledger(settings.ledger_address) as ledger:
        check_host(settings)
        (tmp_path / "models.yaml").write_text(MODELS.replace("one", "two"))
        check_host(settings)
        with ledger.read() as connection:
            assert read_noted_files(connection) == {}
