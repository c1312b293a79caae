"""`proctor exam seal`, the public log and its place in backups, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.deployments.commands.test_exam_log import home
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.tasks.exam.test_tamperings import fill
from warehouse.ledger.engine.opening import open_ledger

__all__ = ["home"]


def read_log(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "public" / "log.jsonl").read_text().splitlines()]


def test_seal_signs_writes_and_tells_and_its_check_finds_a_head_of_another_log(
    home: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    sealed = json.loads(invoke(home, "exam", "seal", "--witness", str(kept), "--json").stdout)
    assert [told["outcome"] for told in sealed["witnesses"]] == ["given"]
    assert sealed["head"]["number"] == len(read_log(home))
    assert json.loads(kept.read_text()) == sealed["head"]
    assert invoke(home, "exam", "seal", "--check", str(kept)).exit_code == 0
    failed = invoke(home, "exam", "seal", "--witness", "command:false", "--witness", str(kept))
    assert failed.exit_code == 1
    assert "failed, it ended with 1" in failed.stdout
    assert ": known." in failed.stdout
    kept.write_text(kept.read_text().replace('"number":', '"number":9'))
    checked = invoke(home, "exam", "seal", "--check", str(kept), "--json")
    assert checked.exit_code == 1
    assert [found["name"] for found in json.loads(checked.stdout)["findings"]] == ["public_log_cut"]
    assert invoke(home, "exam", "seal", "--witness", str(home / "kept.jsonl")).exit_code == 2


def test_the_setting_names_witnesses_for_every_seal(home: Path, tmp_path: Path) -> None:
    kept = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    named = json.dumps([str(path) for path in kept])
    assert invoke(home, "exam", "seal", PROCTOR_WITNESSES=named).exit_code == 0
    assert kept[0].read_text() == kept[1].read_text() != ""


def test_what_is_closed_by_a_command_is_public_at_once_and_the_audit_sees_a_changed_file(home: Path) -> None:
    count = len(read_log(home))
    assert invoke(home, "exam", "close", "2026-11", "--reason", "SECRET-WORDS").exit_code == 0
    closings = read_log(home)[count:]
    assert {entry["kind"] for entry in closings} == {"close", "disclose"}
    assert "SECRET-WORDS" not in json.dumps(closings)
    assert "The public log is whole" in invoke(home, "exam", "audit").stdout
    file = home / "public" / "log.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"forced"', b'"folded"'))
    audit = invoke(home, "exam", "audit", "--json")
    assert audit.exit_code == 1
    assert [found["name"] for found in json.loads(audit.stdout)["findings"]] == ["public_file_changed"]
    doctor = json.loads(invoke(home, "doctor", "--json").stdout)
    findings = doctor["findings"] if isinstance(doctor, dict) else doctor
    (public,) = [found for found in findings if found["what"] == "public log"]
    assert public["is_fine"] is False
    (closed,) = [found for found in findings if found["what"] == "disclosure of closed runs"]
    assert (closed["is_fine"], closed["found"]) == (True, "nothing stands in its way")
    file.write_bytes(whole)
    assert invoke(home, "exam", "audit").exit_code == 0


def test_a_backup_has_the_public_log_and_a_newer_file_beside_an_older_ledger_is_refused(
    home: Path, tmp_path: Path
) -> None:
    (home / "public" / "runs").mkdir(exist_ok=True)
    (home / "public" / "runs" / "plan.json").write_text("{}")
    assert invoke(home, "backup", str(tmp_path / "backup")).exit_code == 0
    restored = tmp_path / "restored"
    assert invoke(restored, "restore", str(tmp_path / "backup")).exit_code == 0
    names = ("log.jsonl", "heads.jsonl", "runs/plan.json")
    assert [(restored / "public" / name).read_bytes() for name in names] == [
        (home / "public" / name).read_bytes() for name in names
    ]
    assert "The public log is whole" in invoke(restored, "exam", "audit").stdout
    # The log went on after the backup, and somebody has the file of then.
    assert invoke(home, "exam", "user", "list").exit_code == 0
    (home / "secrets" / "log-key.json").rename(home / "secrets" / "kept-key")
    assert invoke(home, "exam", "seal").exit_code == 0
    for name in ("log.jsonl", "heads.jsonl"):
        (restored / "public" / name).write_bytes((home / "public" / name).read_bytes())
    refused = invoke(restored, "exam", "seal")
    assert refused.exit_code == 1
    assert "goes beyond the ledger" in refused.output
    assert "Restore a newer backup" in refused.output


def test_a_command_does_its_work_and_warns_where_the_file_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    copy_new_home(home)
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger:
        fill(ledger, home)
    (home / "public").mkdir(exist_ok=True)
    (home / "public" / "log.jsonl").write_text("another's\n")
    closed = invoke(home, "exam", "close", "2026-11", "--reason", "over")
    assert closed.exit_code == 0
    assert "is not what the ledger has" in " ".join(closed.stderr.split())
    refused = invoke(home, "exam", "seal")
    assert refused.exit_code == 1
    assert not (home / "public" / "heads.jsonl").exists()
