"""The commands of docs/server.md, typed as they stand there, on two bare Debian hosts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.deployments import bare
from tests.deployments.demo.kit import fill_workbook
from tests.e2e.exam_form import JUDGE, Exam

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/server.md"
UNITS = sorted((ROOT / "deployments/server/systemd").glob("*.service"))
EXAM = Exam(papers=1, questions=10, candidates=6, set_size=10, repeats=3)
MOST_COMMANDS = 15
SOURCE = "/mnt/proctor"
MODELS_PORT = 8999
# The same program without the addresses of the form.
EMBEDDED = (
    "cd / && runuser -u proctor -- env PROCTOR_HOME=/var/lib/proctor/restored /opt/proctor/.venv/bin/proctor"
)


def read_commands() -> list[tuple[str, str]]:
    """Host and line of each command of the page, in its order."""
    page = PAGE.read_text(encoding="utf-8").partition("## With containers")[0]
    return re.findall(r"^(host-\d)# (.*)$", page, re.MULTILINE)


def test_two_hosts_and_a_month_take_fifteen_commands() -> None:
    commands = read_commands()
    assert 10 < len(commands) <= MOST_COMMANDS
    assert {host for host, _ in commands} == {"host-1", "host-2"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_every_unit(unit: Path, tmp_path: Path) -> None:
    """What is not on this machine is replaced by a stand-in here.

    These are programs, users' folders and other units.
    """
    text = re.sub(r"^(ExecStart)=.*", r"\1=/bin/true", unit.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^(After|Wants|WorkingDirectory)=.*\n", "", text, flags=re.MULTILINE)
    copy = tmp_path / unit.name.replace("@.", "@1.")
    copy.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if unit.stem in line]) == (0, [])
    copy.write_text(text.replace("[Service]", "[Service]\nNoNewPrivilege=yes"))
    wrong = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    assert "Unknown key" in wrong.stderr


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[dict[str, bare.Host]]:
    if missing := bare.find_missing():
        pytest.skip(f"bare hosts need {missing}")
    base = bare.make_root(tmp_path)
    source = make_repository(tmp_path / "source")
    exam = tmp_path / "exam"
    exam.mkdir()
    EXAM.write_papers(exam / "papers")
    EXAM.write_registry(exam / "models.yaml")
    settings = {name: list(v) if isinstance(v, tuple) else v for name, v in EXAM.settings.items()}
    (exam / "proctor.toml").write_text("".join(f"{name} = {json.dumps(v)}\n" for name, v in settings.items()))
    # So slow that there is something left for a second worker.
    models: dict[str, Any] = {name: {"latency_ms": 300} for name in EXAM.names}
    models[JUDGE] = {"kind": "judge", "latency_ms": 300}
    (exam / "profile.yaml").write_text(json.dumps({"seed": "bare", "models": models}))
    binds = {one: one for one in bare.list_sources()} | {str(source): SOURCE}
    with bare.bridged():
        made = {}
        try:
            for number in (1, 2):
                name = f"host-{number}"
                extra = {str(exam): "/mnt/exam"} if number == 1 else {}
                made[name] = bare.Host(name, f"10.77.31.{number}", base, tmp_path / name, binds | extra)
            let_root_log_in(made["host-2"], made["host-1"])
            made["host-1"].shell(
                "cp -r /mnt/exam/papers /srv/papers; cp /mnt/exam/*.* /root/; chmod -R a+rX /srv/papers"
            )
            yield made
        finally:
            for host in made.values():
                host.stop()


def make_repository(folder: Path) -> Path:
    """A repository with this working tree as its one commit."""
    bare.copy_tree(ROOT, folder)
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"],
    ):
        bare.run("git", *words, cwd=folder)
    return folder


def let_root_log_in(one: bare.Host, other: bare.Host) -> None:
    """As the administrator of two hosts may go from one to the other."""
    one.shell(
        "mkdir -p .ssh; ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519; echo 'StrictHostKeyChecking no' >.ssh/config"
    )
    other.shell("mkdir -p -m 700 .ssh")
    shutil.copyfile(one.path("/root/.ssh/id_ed25519.pub"), other.path("/root/.ssh/authorized_keys"))


def write_models(host: bare.Host, *, knows_bank: bool = False) -> None:
    """The unit of the simulated models; without the bank none of them knows what is right."""
    unit = (
        "[Service]\nUser=proctor\nEnvironmentFile=/etc/proctor/owner.env\nExecStart=/opt/proctor/.venv/bin/python -m deployments.model_server "
        f"--host {host.address} --port {MODELS_PORT} --profile /mnt/exam/profile.yaml{' --home /var/lib/proctor' * knows_bank}\n"
        "WorkingDirectory=/opt/proctor\nRestart=always\n"
    )
    host.path("/etc/systemd/system/models.service").write_text(unit)


def start_models(host: bare.Host) -> None:
    """Start the simulated models, on the first host.

    Workers learn where the models are in owner.env, as they do for any key.
    """
    write_models(host)
    host.shell(
        f"echo PROCTOR_SIMULATED_URL=http://{host.address}:{MODELS_PORT}/v1 >>/etc/proctor/owner.env; "
        "echo PREFECT_WORKER_QUERY_SECONDS=1 >>/etc/proctor/owner.env; systemctl start models; systemctl restart proctor-worker@1"
    )


def fill_workbooks(host: bare.Host) -> None:
    """The people's part, between the export and the import."""
    books = sorted(host.path("/srv/proctor/workbooks").glob("*.xlsx"))
    assert len(books) == 2
    for book in books:
        fill_workbook(book, [])


def await_bank(host: bare.Host) -> None:
    """The last decision of the batch starts the flow that publishes the bank."""
    deadline = time.monotonic() + 600
    while not read_json(host, "proctor bank versions"):
        assert time.monotonic() < deadline, host.read_logs()
        time.sleep(2)


def read_json(host: bare.Host, line: str) -> Any:
    return json.loads(host.shell(f"{line} --json").stdout)


def hash_files(host: bare.Host) -> list[str]:
    """Every file of a host's set-up, with its hash.

    What is for publication grows by a schedule and is left out.
    """
    places = "/etc/proctor /etc/postgresql /etc/systemd/system /srv/proctor/secrets /srv/proctor/*.*"
    return sorted(host.shell(f"find {places} -type f -print0 | xargs -0 sha256sum").stdout.splitlines())


def find_host(flow_run_id: str, hosts: dict[str, bare.Host]) -> str:
    """Where a run ran: that host shows its lines, and the other one says where it was."""
    told = {name: host.shell(f"proctor logs {flow_run_id}") for name, host in hosts.items()}
    (there,) = [name for name, done in told.items() if "It ran on" not in done.stderr]
    assert told[there].stdout.strip(), told
    assert all(f"It ran on {there}" in done.stderr for name, done in told.items() if name != there), told
    return there


@pytest.mark.long
@pytest.mark.service
def test_two_bare_hosts_come_to_a_published_month_by_the_commands_of_the_page(
    hosts: dict[str, bare.Host],
) -> None:
    first, second = hosts["host-1"], hosts["host-2"]
    before = time.monotonic()
    for name, line in read_commands():
        if "git clone" in line:
            line = re.sub(r"https://\S+", f"-c safe.directory='*' file://{SOURCE}", line)
            hosts[name].shell("git config --global --add safe.directory '*'")
        if "host bundle" in line:
            start_models(first)
        if "runs start" in line:
            assert "--on-worker" in line
            await_bank(first)
            # A judge that knows nothing is refused by the gates.
            write_models(first, knows_bank=True)
            first.shell("systemctl restart models")
        began = time.monotonic()
        hosts[name].shell(line)
        print(f"{time.monotonic() - began:7.1f} s  {name}# {line}", flush=True)
        if "review export" in line:
            fill_workbooks(first)
    month = datetime.now(UTC).strftime("%Y-%m")

    def find_monthly() -> dict[str, Any]:
        runs = read_json(first, "proctor runs list --flow monthly")["runs"]
        # On the first of a month its schedule may begin one meanwhile, which finds nothing to examine or nobody due.
        return next((dict(one) for one in runs if one["started_by"] == "person"), {})

    deadline = time.monotonic() + 1800
    while (run := find_monthly()).get("state") not in ("completed", "failed", "crashed", "lost"):
        assert time.monotonic() < deadline, f"{run}\n{first.read_logs()}\n{second.read_logs()}"
        time.sleep(2)
    if run["state"] != "completed":
        told = first.shell(f"proctor logs {run['flow_run_id']}").stdout
        pytest.fail(f"{run}\n{told}\n{first.read_logs()}\n{second.read_logs()}")
    print(f"{time.monotonic() - before:7.1f} s  in all", flush=True)

    # Both workers took part, and either host shows what each run did.
    helpers = read_json(first, "proctor runs list --flow help")["runs"]
    assert {one["state"] for one in helpers} == {"completed"}
    ran_on = {find_host(one["flow_run_id"], hosts) for one in (run, *helpers)}
    assert sorted(ran_on) == ["host-1", "host-2"], ran_on
    # The lines of a run of the server are there on either host.
    assert all(host.shell(f"proctor logs {run['flow_run_id']}").stdout.strip() for host in hosts.values())
    # The month is published, its files are on the shared folder, and the lake's in the store.
    editions = read_json(second, "proctor sql 'SELECT edition_id, month FROM editions'")
    assert [one["month"] for one in editions] == [month]
    assert list(first.path("/srv/proctor/public").glob("runs/*"))
    stored = first.shell(
        ". /etc/proctor/objects.env; swift -A $AWS_ENDPOINT_URL/auth/v1.0 -U $AWS_ACCESS_KEY_ID -K $AWS_SECRET_ACCESS_KEY list proctor"
    ).stdout
    assert sum(name.endswith(".parquet") for name in stored.split()) > 20
    for host in (first, second):
        found = json.loads(host.shell("proctor doctor --json").stdout)["findings"]
        assert [one for one in found if one["severity"] == "wrong"] == [], host.name
        assert {one["what"] for one in found} >= {
            "stores", "shared by hosts", "object store", "workers", "editions", "public log"
        }  # fmt: skip
    # The exam API serves with its own role, and a copy of the form is whole: it is the same exam in a home of its own.
    first.shell(
        "python3 -c \"import urllib.request; urllib.request.urlopen('http://127.0.0.1:8700/health')\""
    )
    first.shell("install -d -o proctor -g proctor -m 0700 /srv/copies")
    first.shell("proctor backup /srv/copies/one && proctor backup --verify /srv/copies/one")
    first.shell(f"{EMBEDDED} restore /srv/copies/one")
    assert read_json(first, f"{EMBEDDED} sql 'SELECT edition_id, month FROM editions'") == editions
    first.shell(f"{EMBEDDED} exam audit")
    # Twice changes nothing: no file of the set-up, and nothing of the month.
    kept = hash_files(first)
    again = first.shell("/opt/proctor/deployments/server/host first 10.77.31.1")
    assert "Fill in" in again.stdout
    assert hash_files(first) == kept
    assert read_json(second, "proctor sql 'SELECT edition_id, month FROM editions'") == editions
