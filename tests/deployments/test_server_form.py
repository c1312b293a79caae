"""The files of the server form, valid by the tools that read them, and in step with ours."""

from __future__ import annotations

import configparser
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest
import typer
import yaml
from dockerfile_parse import DockerfileParser
from fastapi.testclient import TestClient
from sqlalchemy import text

from deployments.cli import app
from deployments.home import create_home
from deployments.http import Listening, web_server
from schemas.errors import StoreError
from schemas.settings import HOME_CONTENTS, HOME_MARK, Settings, is_home
from tests.deployments.conftest import copy_new_home
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import BUCKET, ObjectStore, start_object_store
from warehouse.ledger.engine.opening import open_ledger

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "deployments/server"
UNITS = sorted((SERVER / "systemd").glob("*.service"))
# Read beside the settings (docs/data-engineer.md).
OTHERS = {"PROCTOR_PASSWORD"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((SERVER / "compose.yaml").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the secrets were made."""
    folder = tmp_path_factory.mktemp("secrets")
    make_secrets(folder)
    return folder


def make_secrets(folder: Path, *host: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return subprocess.run(
        [sys.executable, str(SERVER / "make-secrets"), str(folder), *host],
        env=kept | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def read_environment(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def check_command(words: list[str]) -> None:
    """Our own parser takes the command with these options, or click raises."""
    command = typer.main.get_command(app)
    context = command.make_context("proctor", list(words), resilient_parsing=False)
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        command = command.commands[rest[0]]
        context = command.make_context(rest[0], rest[1:], parent=context)


def test_the_compose_file_is_one_by_its_specification(compose: dict[str, Any]) -> None:
    schema = files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    jsonschema.validate(compose, json.loads(schema.read_text(encoding="utf-8")))
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        assert {volume.split(":")[0] for volume in service.get("volumes", ()) if volume[0] != "."} <= set(
            compose["volumes"]
        )
        for volume in service.get("volumes", ()):
            if volume.startswith("./") and not volume.startswith("./objects.json"):
                assert (SERVER / volume.split(":")[0]).is_file(), volume


def test_the_commands_of_the_containers_are_ours(compose: dict[str, Any]) -> None:
    checked = []
    for service in compose["services"].values():
        if service.get("image") != "proctor" or service.get("entrypoint") == ["prefect"]:
            continue
        (*_, last) = service["command"]
        lines = (
            last.splitlines() if "entrypoint" in service else [shlex.join(["proctor", *service["command"]])]
        )
        for line in lines:
            if line.startswith((": ", "install ")):
                continue
            program, *words = shlex.split(line)
            assert program == "proctor"
            check_command(words)
            checked.append(line)
    assert len(checked) == 6


def test_where_no_ledger_is_named_nothing_is_prepared(compose: dict[str, Any], tmp_path: Path) -> None:
    prepare = compose["services"]["prepare"]
    script = prepare["command"][0].replace("$$", "$")
    (tmp_path / "proctor").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "proctor").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    ran = [
        subprocess.run(
            [*prepare["entrypoint"], script],
            env={"PATH": path, **named},
            capture_output=True,
            text=True,
            check=False,
        )
        for named in ({}, {"PROCTOR_LEDGER_URL": "postgresql://proctor@postgres/proctor"})
    ]
    assert ran[0].returncode != 0 and ran[0].stdout == "" and "owner.env names no ledger" in ran[0].stderr
    assert ran[1].stdout.startswith("init\n")


def test_lines_that_an_earlier_owner_env_lacks_are_named(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "made")
    assert make_secrets(folder).stderr == "All of them are there already; nothing was changed.\n"
    owner = folder / "owner.env"
    kept = [line for line in owner.read_text().splitlines() if not line.startswith("PROCTOR_LEDGER_URL")]
    owner.write_text("\n".join(kept) + "\n")
    again = make_secrets(folder)
    assert again.returncode == 1
    assert "owner.env lacks PROCTOR_LEDGER_URL: " in again.stderr


def test_the_command_of_a_host_runs_nothing_that_its_environment_holds(tmp_path: Path) -> None:
    (tmp_path / "runuser").write_text("#!/bin/sh\ntest $4 = test || env\n")
    (tmp_path / "runuser").chmod(0o755)
    owner = tmp_path / "owner.env"
    owner.write_text(
        f'# keys\nA=$(touch {tmp_path}/ran)\nB=`touch {tmp_path}/ran`; x & y\nC="quoted one"\nno line\nD-E=1\nF=a=b'
    )
    script = (SERVER / "run-as-proctor").read_text().replace("/etc/proctor/owner.env", str(owner))
    shown = subprocess.run(
        ["sh", "-c", script, "proctor", "doctor"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert not (tmp_path / "ran").exists()
    wanted = [f"A=$(touch {tmp_path}/ran)", f"B=`touch {tmp_path}/ran`; x & y", "C=quoted one", "F=a=b"]
    assert set(wanted) <= set(shown)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_units_start_our_commands_with_little_allowed(unit: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit.read_text(encoding="utf-8"))
    service = parser["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert Path(program).name in ("proctor", "prefect")
    if Path(program).name == "proctor":
        check_command(words)
    assert service["User"].startswith("proctor")
    assert (service["UMask"], service["NoNewPrivileges"], service["ProtectSystem"]) == (
        "0077",
        "yes",
        "strict",
    )
    assert parser["Install"]["WantedBy"] == "multi-user.target"


def test_every_variable_is_one_that_is_read(compose: dict[str, Any], made: Path) -> None:
    known = {f"PROCTOR_{name.upper()}" for name in Settings.model_fields}
    named = {name for service in compose["services"].values() for name in service.get("environment", ())}
    for path in made.glob("*.env"):
        named |= read_environment(path).keys()
    assert {name for name in named if name.startswith("PROCTOR_")} - known == OTHERS
    # The exam API is given its own database, and nothing of the owner's.
    exam = compose["services"]["exam"]
    assert exam["env_file"] == ["exam.env"]
    place = read_environment(made / "owner.env")["PROCTOR_EXAM_PICTURES"]
    assert exam["environment"] == {"PROCTOR_EXAM_PICTURES": place}
    # Papers with their answers, and keys, lie in the folder that all others share: of their pictures it reads copies.
    assert exam["volumes"] == ["exam-home:/var/lib/proctor", f"exam-pictures:{place}:ro"]
    for name, service in compose["services"].items():
        if service.get("env_file") == ["owner.env"]:
            assert f"exam-pictures:{place}" in service["volumes"], name
    assert set(read_environment(made / "exam.env")) == {"PROCTOR_EXAM_DATABASE_URL"}


def test_the_image_holds_what_it_needs_and_runs_as_nobody_special(tmp_path: Path) -> None:
    parser = DockerfileParser(path=str(tmp_path))
    parser.content = (SERVER / "Dockerfile").read_text(encoding="utf-8")
    steps = [(step["instruction"], step["value"]) for step in parser.structure]
    copied = [value.split()[:-1] for instruction, value in steps if instruction == "COPY"]
    sources = {name for names in copied for name in names}
    assert all((ROOT / name).exists() for name in sources)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    assert {name.rstrip("*") for name in packages["include"]} <= sources
    users = [value for instruction, value in steps if instruction == "USER"]
    assert users == ["proctor"]
    order = [instruction for instruction, _ in steps]
    assert order.index("USER") < order.index("ENTRYPOINT")
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {"deployments/server/*.env", "deployments/server/objects.json"} <= set(ignored)
    assert {"deployments/server/*.env", "deployments/server/objects.json"} <= set(
        (ROOT / ".gitignore").read_text().splitlines()
    )


def test_secrets_are_made_once_for_their_owner_alone(made: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.iterdir()} == {0o600}
    again = make_secrets(made)
    assert again.returncode == 1
    assert "nothing was changed" in again.stderr
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before
    (made / "owner.env").rename(tmp_path / "owner.env")
    assert "Put these aside" in make_secrets(made).stderr
    (tmp_path / "owner.env").rename(made / "owner.env")
    password = read_environment(made / "owner.env")["PGPASSWORD"]
    assert password == read_environment(made / "postgres.env")["PROCTOR_PASSWORD"]
    assert password not in again.stdout + again.stderr
    key = json.loads((made / "objects.json").read_text())["identities"][0]["credentials"][0]
    assert key["secretKey"] == read_environment(made / "owner.env")["AWS_SECRET_ACCESS_KEY"]


def test_a_home_of_which_everything_lies_elsewhere_is_known_as_one(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    settings = Settings.model_validate(
        {
            "home": tmp_path / "home",
            "ledger_url": f"sqlite:///{elsewhere}/ledger.sqlite",
            "lake_catalog": f"sqlite:{elsewhere}/catalog.sqlite",
            "lake_data": str(elsewhere / "data"),
            **{name: elsewhere / name for name in ("secrets", "archive", "registry")},
        }
    )
    assert not is_home(settings.home)
    create_home(settings)
    assert is_home(settings.home)
    assert [path.name for path in settings.home.iterdir() if path.name in HOME_CONTENTS] == [HOME_MARK]


def test_behind_a_proxy_with_tls_the_cookie_travels_over_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path)
    served: list[Any] = []
    monkeypatch.setattr(web_server, "serve_app", lambda app, *_, **__: served.append(app))
    copy_new_home(settings.home)
    for proxy in (None, "127.0.0.1"):
        web_server.serve_web(settings, Listening("127.0.0.1", 8710, proxy=proxy))
    seen = []
    for one in served:
        with TestClient(one):
            seen.append(one.state.is_https)
    assert seen == [False, True]


def test_the_desk_does_not_begin_with_a_ledger_that_a_newer_version_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path)
    copy_new_home(settings.home)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    monkeypatch.setattr(web_server, "serve_app", lambda *_, **__: pytest.fail("it began"))
    with pytest.raises(StoreError, match="written by another version of Proctor"):
        web_server.serve_web(settings, Listening("127.0.0.1", 8710))


@pytest.fixture
def database(made: Path) -> Iterator[PostgresqlServer]:
    """A server of which only its superuser knows anything, before the script of its first start."""
    with start_postgresql() as server:
        yield server


def build_owner(made: Path, server: PostgresqlServer, store: ObjectStore, place: Path) -> dict[str, str]:
    """Every variable of owner.env, with this machine's addresses for the containers'.

    Nothing else of ours is in it.
    """
    moved = {
        name: value.replace("@postgres/", f"@{place.name}/").replace("/srv/proctor", str(place / "shared"))
        for name, value in read_environment(made / "owner.env").items()
    }
    socket = f"?host={server.folder}"
    for name in ("PROCTOR_LEDGER_URL", "PROCTOR_LAKE_CATALOG"):
        address, database = moved[name].split(f"@{place.name}/")
        moved[name] = (
            f"{address}@/{database if place.name == 'first' else f'{database}_{place.name}'}{socket}"
        )
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PROCTOR_", "PREFECT_"))
    }
    return kept | moved | store.variables | {
        "PROCTOR_HOME": str(place / "home"),
        "PROCTOR_LAKE_DATA": f"s3://{BUCKET}/{place.name}",
        "PROCTOR_NO_SERVER": "true",
    }  # fmt: skip


def run_proctor(
    variables: dict[str, str], *words: str, exit_code: int = 0
) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("proctor")
    done = subprocess.run(
        [program, *words], env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == exit_code, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done


@pytest.mark.service
@pytest.mark.long
def test_the_form_works_with_its_own_files_and_is_backed_up_and_restored_with_them(
    compose: dict[str, Any], made: Path, database: PostgresqlServer, tmp_path: Path
) -> None:
    """What `prepare` and `exam` of the compose file run, on this machine.

    They run the same script, variables and commands.
    """
    for _ in range(2):
        subprocess.run(
            ["bash", str(SERVER / "create-databases.sh")],
            env=os.environ | read_environment(made / "postgres.env") | {"PGHOST": str(database.folder)},
            check=True, capture_output=True,
        )  # fmt: skip
    with start_object_store() as store:
        owner = build_owner(made, database, store, tmp_path / "first")
        first, *lines = compose["services"]["prepare"]["command"][0].splitlines()
        assert first.startswith(': "$${PROCTOR_LEDGER_URL:?')
        for line in lines * 2:
            run_proctor(owner, *shlex.split(line)[1:])
        registry = ROOT / "deployments/demo/models.yaml"
        (tmp_path / "first/shared/models.yaml").write_bytes(registry.read_bytes())
        run_proctor(owner, "ingest", str(ROOT / "deployments/demo/papers/economics"))
        run_proctor(owner, "backup", str(tmp_path / "backup"))
        run_proctor(owner, "backup", "--verify", str(tmp_path / "backup"))

        counting = ("sql", "SELECT count(*) AS n, max(landed_at) AS last FROM landings", "--json")
        counted = json.loads(run_proctor(owner, *counting).stdout)
        server = build_owner(made, database, store, tmp_path / "second")
        for name in ("proctor", "lake"):
            with psycopg.connect(f"host={database.folder} user=postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}_second OWNER proctor".encode())
        taken = tmp_path / "second/shared/secrets/installation-id"
        taken.parent.mkdir(parents=True, mode=0o700)
        taken.write_text("another installation's")
        refused = run_proctor(server, "restore", str(tmp_path / "backup"), exit_code=2)
        assert f"{taken} is there already" in refused.stderr
        taken.unlink()
        embedded = {name: value for name, value in server.items() if not name.startswith("PROCTOR_")}
        embedded |= {"PROCTOR_HOME": str(tmp_path / "embedded"), "PROCTOR_NO_SERVER": "true"}
        for variables, folder in ((server, tmp_path / "second/shared"), (embedded, tmp_path / "embedded")):
            run_proctor(variables, "restore", str(tmp_path / "backup"))
            assert json.loads(run_proctor(variables, *counting).stdout) == counted
            assert (folder / "models.yaml").read_bytes() == registry.read_bytes()
            # The address of Prefect's server is the one in owner.env, and this test starts none.
            found = json.loads(run_proctor(variables, "doctor", "--json", exit_code=1).stdout)["findings"]
            assert {one["what"] for one in found if one["severity"] == "wrong"} == {"Prefect server"}
            run_proctor(variables, "exam", "audit")
        assert is_home(tmp_path / "second/home")
    exam = read_environment(made / "exam.env")["PROCTOR_EXAM_DATABASE_URL"]
    address = exam.replace("@postgres/", "@/") + f"?host={database.folder}"
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM reviews")


def test_a_pool_of_containers_uses_the_network_and_volumes_of_the_form(compose: dict[str, Any]) -> None:
    variables = json.loads((ROOT / "deployments/pools/docker.json").read_text())["variables"]["properties"]
    networks = {one.get("name") for one in compose["networks"].values()}
    volumes = {(one or {}).get("name") for one in compose["volumes"].values()}
    assert set(variables["networks"]["default"]) <= networks
    assert {volume.split(":")[0] for volume in variables["volumes"]["default"]} <= volumes
    of_worker = {volume.split(":")[1] for volume in compose["services"]["worker"]["volumes"]}
    assert {volume.split(":")[1] for volume in variables["volumes"]["default"]} == of_worker


def test_of_a_host_all_parts_are_told_its_address_and_its_object_store(tmp_path: Path) -> None:
    store = {
        "AWS_ENDPOINT_URL": "https://s3.example",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "QZXW",
    }
    refused = make_secrets(tmp_path, "db.example")
    assert "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY is not set" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    done = make_secrets(tmp_path, "db.example", **store)
    assert done.returncode == 0
    assert "QZXW" not in done.stdout
    written = {path.name: read_environment(path) for path in tmp_path.iterdir()}
    assert set(written) == {"owner.env", "exam.env", "prefect.env", "postgres.env"}
    assert written["owner.env"].items() >= store.items()
    for name, variables in written.items():
        addresses = [
            value
            for value in variables.values()
            if "://" in value and not value.startswith(("https://s3", "s3:"))
        ]
        assert all("db.example" in value for value in addresses), name
        assert "@postgres/" not in "".join(variables.values())
