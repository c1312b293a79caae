"""What the doctor sees: each fault is made for real, in a home that is fine otherwise.

Every other line is still there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.doctor import contents, examine_home, keys, machine, services
from deployments.doctor.examine import _open
from deployments.doctor.findings import Finding, Findings
from deployments.home import create_home
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import PROCTOR, invoke
from tests.tasks.exam.kit import sit_sessions
from tests.tasks.exam.world import SEED, make_bank, make_settings, plan_wished, publish
from tests.tasks.operations.repair.writer import PayingClient, make_candidates
from tests.warehouse.object_store import BUCKET, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Batch, open_lake
from warehouse.lake.files import find_garbled_files
from warehouse.lake.upkeep import Looked
from warehouse.ledger.engine.leases.clock import Boot, Host, check_clock, clock_of
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.public_log import read_public_head
from warehouse.ledger.engine.opening import open_ledger

pytestmark = pytest.mark.slow
Found = dict[str, dict[str, Any]]
PAPER = b"an original"
PAPER_SHA256 = hashlib.sha256(PAPER).hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a month that was sat, landed, sealed and signed, and a refused row; looked at."""
    settings = make_settings(tmp_path_factory.mktemp("made") / "home")
    create_home(settings)
    original = settings.archive_dir / PAPER_SHA256[:2] / f"{PAPER_SHA256}.doc"
    original.parent.mkdir(parents=True)
    original.write_bytes(PAPER)
    from tasks.operations.reconcile import reconcile

    registry = make_candidates()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        plan = publish(ledger, settings, registry, make_bank())
        asyncio.run(sit_sessions(ledger, settings, registry, PayingClient(ledger), plan.run_id))
        refused = get_table("quarantine").frame([make_refused_row()])
        lake.land_together([Batch("documents", "papers", make_document("parsed"), refused)])
        reconcile(ledger, lake)
        reconcile(ledger, lake)
    close(settings.home)
    examine_home(settings)
    return settings.home


def make_document(status: str) -> Any:
    row: dict[str, object] = {column.name: None for column in get_table("documents").own_columns}
    row |= {
        "document_id": "00000000-0000-4000-8000-000000000001",
        "sha256": PAPER_SHA256,
        "document_name": "paper.doc",
        "source_path": "paper.doc",
        "size_bytes": 10,
        "media_type": "doc",
        "status": status,
        "question_count": 0,
        "warnings": [],
        "ingested_at": datetime(2026, 11, 1, tzinfo=UTC),
    }
    return get_table("documents").frame([row])


def make_refused_row() -> dict[str, object]:
    return {
        "table_name": "documents",
        "unit": "papers",
        "stage": "ingest",
        "row_key": "{}",
        "rule": "a_rule",
        "row_json": "{}",
        "quarantined_at": datetime(2026, 11, 1, tzinfo=UTC),
    }


def close(home: Path) -> None:
    for path in (home, *home.rglob("*")):
        path.chmod(path.stat().st_mode & 0o700)


@pytest.fixture
def looked_home(made: Path, tmp_path: Path) -> Path:
    """A home that was looked at, whose rows need not be read again."""
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def home(looked_home: Path) -> Path:
    """A home at which nobody has looked yet."""
    shutil.rmtree(looked_home / "doctor")
    return looked_home


def examine(home: Path, **variables: str) -> tuple[int, Found]:
    done = invoke(home, "doctor", "--json", **variables)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    findings = json.loads(done.stdout)["findings"]
    found = {one["what"]: one for one in findings}
    # A store that is named twice is shown by what is wrong with it.
    found |= {one["what"]: one for one in findings if one["severity"] == "wrong"}
    return done.exit_code, found


def list_wrong(found: Found) -> set[str]:
    return {what for what, one in found.items() if one["severity"] == "wrong"}


def test_a_home_that_is_fine_is_fine(home: Path) -> None:
    code, found = examine(home)
    assert (code, list_wrong(found)) == (0, set())
    assert {one["severity"] for one in found.values()} <= {"fine", "note"}
    assert all(one["fix"] for one in found.values() if one["severity"] != "fine")
    text = invoke(home, "doctor")
    assert (text.exit_code, "BAD" in text.stdout) == (0, False)


def test_a_check_that_raises_is_a_finding_and_the_others_are_made(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a row's text")

    whole = {one.what for one in examine_home(Settings(home=home))}
    for name in ("examine_audit_log", "examine_rows"):
        monkeypatch.setattr(contents, name, fail)
    found = {one.what: one for one in examine_home(Settings(home=home))}

    assert set(found) == whole
    for what in ("audit log", "contents of landings"):
        assert (found[what].severity, found[what].found) == (
            "wrong",
            "could not be looked at: ZeroDivisionError",
        )
    assert {what for what, one in found.items() if one.severity == "wrong"} == {
        "audit log",
        "contents of landings",
    }


# --- the lake's files ---------------------------------------------------------------------------------------------

GARBLED_TOO = ("landings", "quarantine", "sessions", "access_log", "documents", "sets")


@pytest.mark.parametrize(
    "table", ["responses", *(pytest.param(name, marks=pytest.mark.long) for name in GARBLED_TOO)]
)
def test_a_garbled_file_of_any_table_is_named_and_all_else_is_looked_at(home: Path, table: str) -> None:
    path = max(
        (home / "lake" / "data" / "main" / table).rglob("*.parquet"), key=lambda one: one.stat().st_size
    )
    data = bytearray(path.read_bytes())
    data[4 : len(data) - 8] = random.Random(table).randbytes(len(data) - 12)
    path.write_bytes(data)

    code, found = examine(home)

    assert code == 1
    assert found["data file"]["severity"] == "wrong"
    assert str(path) in found["data file"]["found"]
    fix = found["data file"]["fix"]
    assert fix.index("the one of the same name from any backup") < fix.index("proctor restore BACKUP")
    for what in ("audit log", "public log", "blinding key", "schedules", "stores", "clock", "checks"):
        assert what not in list_wrong(found), what
    assert {"audit log", "public log", "editions", "rows by month", "quarantine"} <= set(found)


def test_a_file_of_another_length_keeps_no_other_line_from_the_report(home: Path) -> None:
    path = next((home / "lake" / "data" / "main" / "responses").rglob("*.parquet"))
    os.truncate(path, path.stat().st_size // 2)
    code, found = examine(home)
    assert (code, str(path) in found["data file"]["found"]) == (1, True)
    assert found["audit log"]["severity"] == "fine"
    assert found["check no_question_uuid_twice_in_a_bank_version"]["severity"] == "fine"


def test_a_data_file_whose_footer_was_changed_is_named_until_it_is_put_back(looked_home: Path) -> None:
    path = next((looked_home / "lake" / "data" / "main" / "responses").rglob("*.parquet"))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"DuckDB version", b"DuckDB Version"))
    code, found = examine(looked_home)
    assert (code, path.name in found["data file"]["found"]) == (1, True)
    assert found["contents of landings"]["severity"] == "fine"
    path.write_bytes(whole)
    assert examine(looked_home)[0] == 0


def test_a_data_file_that_was_written_again_is_named_whoever_keeps_the_catalog(home: Path) -> None:
    path = next((home / "lake" / "data" / "main" / "responses").rglob("*.parquet"))
    pl.read_parquet(path).write_parquet(path)
    settings = Settings(home=home)
    lines = examine_home(settings)
    (wrong,) = [one for one in lines if one.what == "data file" and str(path) in one.found]
    assert "from any backup" in str(wrong.fix)
    assert not any("types and parameters" in one.found for one in lines)
    # With a catalog on a server nothing but reading finds out.
    with open_lake(settings, read_only=True) as lake:
        parts = Looked(lake).parts
    on_server = Settings(home=home, lake_catalog="postgres:host=nowhere")
    (fault,) = find_garbled_files(on_server, parts, ["responses"])
    assert (fault.path, "bytes of" in fault.finding) == (str(path), True)


@pytest.mark.long
@pytest.mark.service
def test_an_object_that_was_cut_is_named_and_a_store_that_is_away_has_lost_nothing(tmp_path: Path) -> None:
    with start_object_store() as store:
        settings = make_settings(tmp_path / "home", lake_data=f"s3://{BUCKET}/lake", store_wait_s=0.0)
        create_home(settings)
        with open_lake(settings) as lake:
            lake.land("sessions", "unit", session_frame(300))
        key = next(key for key in store.list_keys() if "/sessions/" in key)
        whole = store.client().get_object(Bucket=BUCKET, Key=key)["Body"].read()
        store.client().put_object(Bucket=BUCKET, Key=key, Body=whole[:-100])
        found = {one.what: one for one in examine_home(settings)}
        assert (found["data file"].severity, key in found["data file"].found) == ("wrong", True)
        assert "data file of the lake is damaged" in found["rows by month"].found

        store.stop()
        try:
            found = {one.what: one for one in examine_home(settings)}
        finally:
            store.start()
        assert (found["lake"].severity, "does not answer" in found["lake"].found) == ("wrong", True)
        assert (found["stages"].severity, "the lake, which was not" in found["stages"].found) == (
            "fine",
            True,
        )


def test_a_ledger_that_is_broken_keeps_no_line_of_the_lake_from_the_report(looked_home: Path) -> None:
    (looked_home / "ledger.sqlite").write_bytes(b"notes" * 500)
    code, found = examine(looked_home)
    assert (code, found["ledger"]["severity"]) == (1, "wrong")
    assert "copy the home aside" in found["ledger"]["fix"].partition("proctor restore")[0]
    assert found["contents of landings"]["severity"] == "fine"
    assert found["quarantine"]["severity"] == "fine"


# --- keys ---------------------------------------------------------------------------------------------------------


def write(text: str, mode: int = 0o600) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(text)
        path.chmod(mode)

    return change


SHAPES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "half a blinding key": ("blinding-key", write("5e" * 16)),
    "a blinding key that is no number": ("blinding-key", write("zz" * 32)),
    "a blinding key that others may read": ("blinding-key", lambda path: path.chmod(0o644)),
    "token keys that are no JSON": ("exam-keys.json", write("{")),
    "token keys without a key": ("exam-keys.json", write('{"issuer": "x", "lease_secret": "", "keys": []}')),
    "a log key that is none": ("log-key.json", write('{"private_key": "AAAA"}')),
    "a short key of cookies": ("web-cookie.key", write("short")),
}


# Each doctor looks at one shape of every file.
TOGETHER = (
    (
        "half a blinding key",
        "token keys that are no JSON",
        "a log key that is none",
        "a short key of cookies",
    ),
    ("a blinding key that is no number", "token keys without a key"),
    ("a blinding key that others may read",),
)


def test_keys_of_the_wrong_shape_are_named_and_their_content_is_not(looked_home: Path) -> None:
    secrets = shutil.copytree(looked_home / "secrets", looked_home.parent / "secrets")
    for names in TOGETHER:
        shutil.copytree(secrets, looked_home / "secrets", dirs_exist_ok=True)
        for name in names:
            file, change = SHAPES[name]
            change(looked_home / "secrets" / file)
        note = Findings()
        keys.examine_keys(Settings(home=looked_home), note)
        lines = {one.what: one for one in note.found}
        for name in names:
            line = lines[f"key {SHAPES[name][0]}"]
            assert (line.severity, "backup" in str(line.fix)) == ("wrong", True), name
        assert all(key not in f"{lines}" for key in ("5e" * 16, "zz" * 32))
        if names == TOGETHER[0]:
            code, found = examine(looked_home)
            assert code == 1
            assert {f"key {SHAPES[name][0]}" for name in names} <= list_wrong(found)
            assert all(key not in json.dumps(found) for key in ("5e" * 16, "zz" * 32))
            assert found["contents of landings"]["severity"] == "fine"


def test_a_lost_blinding_key_is_named_is_not_made_again_and_nothing_is_planned_without_it(
    looked_home: Path,
) -> None:
    path = looked_home / "secrets" / "blinding-key"
    path.unlink()
    code, found = examine(looked_home)
    assert (code, list_wrong(found)) == (1, {"blinding key", "audit log", "disclosure of closed runs"})
    assert f"{path} is lost" in found["blinding key"]["found"]

    settings = make_settings(looked_home)
    with (
        open_ledger(settings.ledger_address) as ledger,
        pytest.raises(Exception, match="blinding-key is lost"),
    ):
        plan_wished(
            ledger, settings, make_candidates(), make_bank(), month="2026-12", is_simulated=False, seed=SEED
        )
    assert not path.exists()


def test_another_blinding_key_is_not_taken_for_the_one_that_sealed(looked_home: Path) -> None:
    write("5e" * 32)(looked_home / "secrets" / "blinding-key")
    code, found = examine(looked_home)
    assert (code, list_wrong(found)) == (1, {"blinding key", "audit log", "disclosure of closed runs"})
    assert "is not the key that set" in found["blinding key"]["found"]


# --- the clock ----------------------------------------------------------------------------------------------------


def test_spans_that_nothing_but_the_clock_shows_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path)
    monkeypatch.setattr(machine, "_list_times", lambda _settings: ())
    with open_ledger(settings.ledger_address) as ledger:
        true = Host()

        def look(days: float) -> Finding:
            """After a start of the host so many days from now."""
            boot = Boot(f"start {days}", 20.0)
            clock_of(ledger.engine).host = Host(lambda: true.read_wall() + days * 86_400, lambda: boot)
            found = Findings()
            machine.examine_clock(settings, ledger, found)
            check_clock(ledger)
            return found.found[0]

        assert [look(days).severity for days in (-9.0, -8.5, 0.0)] == ["fine", "note", "note"]
        publish(ledger, settings, make_candidates(), make_bank())
        # A run that was planned since is measured by the same clock.
        assert look(0.0).severity == "note"
        line = look(6.0)
        assert line.severity == "wrong"
        assert "144.0 hours before" in line.found
        assert line.fix is not None
        assert "proctor clock --confirm" in line.fix


def test_a_recipient_that_cannot_be_told_is_a_fault(tmp_path: Path) -> None:
    for recipients, is_fine in ((["command:true"], True), (["ops@example.org"], False)):
        found = Findings()
        services._examine_recipients(make_settings(tmp_path, notify=recipients), found)
        (line,) = found.found
        assert (line.what, line.severity == "fine") == ("told of failed runs", is_fine)


def test_without_a_schedule_too_a_wrong_recipient_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that cron starts tell of their failure as well."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    settings = make_settings(tmp_path, notify=["ops@example.org"])
    found = Findings()
    with open_ledger(settings.ledger_address) as ledger:
        services.examine_prefect(settings, ledger, found)
    assert ("told of failed runs", "wrong") in [(line.what, line.severity) for line in found.found]


@pytest.mark.parametrize(
    "named", [{"reference_model": "north-9"}, {"judges": ["north-9"]}, {"second_reader": "north-9"}]
)
def test_a_setting_that_names_no_model_is_a_fault(tmp_path: Path, named: dict[str, Any]) -> None:
    settings = make_settings(tmp_path, **named)
    settings.registry_path.write_text(
        "providers: {lab: {base_url: 'http://127.0.0.1:9/v1'}}\n"
        "models: {north-1: {provider: lab, organisation: Lab, roles: [candidate, reference]}}\n"
    )
    found = Findings()
    machine.examine_models(settings, found)
    (line,) = found.found
    assert (line.what, line.severity) == ("models", "wrong")
    assert "there is no model 'north-9'; registered are north-1" in line.found


@pytest.mark.parametrize(
    ("roles", "severity", "words"),
    [
        ("generator, candidate", "wrong", "'north-1' is a candidate, and would read the questions"),
        ("generator, reference", "wrong", "'north-1' is a reference, and would read the questions"),
        ("judge", "wrong", "needs the role `generator`"),
        ("generator, judge", "fine", "1 registered"),
    ],
)
def test_a_second_reader_that_may_read_no_papers_is_a_fault(
    tmp_path: Path, roles: str, severity: str, words: str
) -> None:
    settings = make_settings(tmp_path, second_reader="north-1")
    settings.registry_path.write_text(
        "providers: {lab: {base_url: 'http://127.0.0.1:9/v1'}}\n"
        f"models: {{north-1: {{provider: lab, organisation: Lab, roles: [{roles}]}}}}\n"
    )
    found = Findings()
    machine.examine_models(settings, found)
    (line,) = found.found
    assert (line.what, line.severity) == ("models", severity)
    assert words in line.found


def test_a_store_that_a_driver_cannot_open_is_a_finding() -> None:
    def make() -> Any:
        raise ValueError("postgresql://user:secret@host")

    found = Findings()
    with ExitStack() as stack:
        assert _open(found, stack, "ledger", set(), make) is None
    (line,) = found.found
    assert (line.what, line.found, line.severity) == ("ledger", "could not be opened: ValueError", "wrong")


def test_a_clock_behind_what_was_written_is_named(looked_home: Path) -> None:
    later = datetime.now(UTC) + timedelta(hours=3)
    with open_ledger(Settings(home=looked_home).ledger_address) as ledger, ledger.write() as connection:
        add_entry(connection, Entry("token", accessed_at=later.isoformat(timespec="microseconds")))
    code, found = examine(looked_home)
    assert (code, list_wrong(found)) == (1, {"clock"})
    assert "s behind what was written last, in the ledger" in found["clock"]["found"]


def test_a_clock_behind_the_time_of_a_file_is_named(looked_home: Path) -> None:
    later = (datetime.now(UTC) + timedelta(hours=3)).timestamp()
    os.utime(looked_home / "public" / "log.jsonl", (later, later))
    settings, found = Settings(home=looked_home), Findings()
    with open_ledger(settings.ledger_address) as ledger:
        machine.examine_clock(settings, ledger, found)
    assert [(one.what, one.severity) for one in found.found] == [("clock", "wrong")]
    assert "log.jsonl" in found.found[0].found


# --- folders and disks --------------------------------------------------------------------------------------------


def test_a_public_folder_that_is_gone_and_a_lost_log_key_are_named(looked_home: Path) -> None:
    shutil.rmtree(looked_home / "public")
    (looked_home / "secrets" / "log-key.json").unlink()
    code, found = examine(looked_home)
    assert (code, found["public folder"]["severity"]) == (1, "wrong")
    assert str(looked_home / "public") in found["public folder"]["found"]
    assert "proctor exam seal" in found["public folder"]["fix"]
    assert not (looked_home / "public").exists()
    assert found["log key"]["severity"] == "wrong"


def test_a_public_folder_that_nobody_has_written_yet_is_not_missed(tmp_path: Path) -> None:
    """A public folder that nobody has written yet is not reported as missing.

    The exam API, which may not write there, names its keys in the public log as soon as it starts.
    """
    settings = make_settings(tmp_path)
    copy_new_home(settings.home)
    with open_ledger(settings.ledger_address) as ledger:
        note_keys(ledger, settings, open_signer(settings))
        with ledger.read() as connection:
            assert read_public_head(connection).number == 1
    close(settings.home)
    code, found = examine(settings.home)
    assert not (settings.home / "public").exists()
    assert (code, list_wrong(found)) == (0, set())


FULL = """
set -e
mount -t tmpfs -o size=48m tmpfs {disk}
cp -a {home} {disk}/home
{before}
dd if=/dev/zero of={disk}/filler bs=64k 2>/dev/null || true
dd if=/dev/zero of={disk}/filler2 bs=1 2>/dev/null || true
PROCTOR_HOME={disk}/home exec {proctor} doctor {options}
"""


def can_mount() -> bool:
    done = (
        subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
        if shutil.which("unshare")
        else None
    )
    return done is not None and done.returncode == 0


@pytest.mark.skipif(not can_mount(), reason="a mount of one's own is not allowed here")
@pytest.mark.parametrize(
    "before",
    [
        pytest.param("true", marks=pytest.mark.long),
        "rm -f {disk}/home/ledger.sqlite-shm {disk}/home/ledger.sqlite-wal",
    ],
)
def test_a_full_disk_is_named_and_no_backup_is_advised(home: Path, tmp_path: Path, before: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = FULL.format(
        disk=disk, home=home, before=before.format(disk=disk), proctor=PROCTOR, options="--json"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    found = {one["what"]: one for one in json.loads(done.stdout)["findings"]}
    assert found["free disk"]["severity"] == "wrong"
    assert "full" in found["free disk"]["found"]
    assert "make room" in found["free disk"]["fix"]
    assert "restore" not in done.stdout.lower()
    assert {"Python", "keys", "folders of the home"} <= set(found)


# --- programs -----------------------------------------------------------------------------------------------------

OFFICE = "LibreOffice (for .doc, .rtf, .wps)"


def test_libreoffice_that_a_setting_names_in_vain_or_papers_wait_for_is_a_fault(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = str(Path(sys.executable).parent)
    for variables, severity, said in (
        ({"PATH": nowhere, "PROCTOR_SOFFICE": ""}, "note", "no paper waits for it"),
        ({"PROCTOR_SOFFICE": "/nowhere/soffice"}, "wrong", "/nowhere/soffice, which is not there"),
    ):
        note = Findings()
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            machine.examine_helpers(Settings(home=home), {}, note)
        (line,) = [one for one in note.found if one.what == OFFICE]
        assert (line.severity, said in line.found) == (severity, True)
        assert "install libreoffice-writer" in str(line.fix)
    with open_lake(Settings(home=home)) as lake:
        lake.land("documents", "papers", make_document("needs_libreoffice"))
    close(home)
    code, found = examine(home, PATH=nowhere, PROCTOR_SOFFICE="")
    assert (code, list_wrong(found)) == (1, {OFFICE})
    assert "papers that wait for it: 1" in found[OFFICE]["found"]


# --- what runs ----------------------------------------------------------------------------------------------------


def test_an_address_of_a_server_that_does_not_answer_is_named_without_its_password(looked_home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    code, found = examine(looked_home, PREFECT_API_URL=f"http://who:hidden@127.0.0.1:{port}/api")
    assert (code, list_wrong(found)) == (1, {"Prefect server"})
    assert (
        f"http://127.0.0.1:{port}/api (PREFECT_API_URL) does not answer" in found["Prefect server"]["found"]
    )
    assert "hidden" not in json.dumps(found)
