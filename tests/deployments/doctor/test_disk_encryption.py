"""What the doctor says of disks, by devices laid out as the system has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deployments.doctor import disk_encryption
from deployments.doctor.disk_encryption import examine_disk_encryption, is_disk_encrypted
from deployments.doctor.findings import Findings
from schemas.settings import Settings


class Devices:
    """Devices as /sys lays them out, the folder's own among them."""

    def __init__(self, folder: Path) -> None:
        self.numbers = folder / "dev" / "block"
        self.numbers.mkdir(parents=True)
        self._top = folder / "devices"

    def add(self, name: str, *below: Path, uuid: str | None = None) -> Path:
        device = self._top / name
        (device / "slaves").mkdir(parents=True)
        for one in below:
            (device / "slaves" / one.name).symlink_to(one)
        if uuid is not None:
            (device / "dm").mkdir()
            (device / "dm" / "uuid").write_text(uuid)
        return device

    def name(self, folder: Path, device: Path) -> None:
        number = folder.stat().st_dev
        (self.numbers / f"{os.major(number)}:{os.minor(number)}").symlink_to(device)


@pytest.fixture
def devices(tmp_path: Path) -> Devices:
    return Devices(tmp_path / "sys")


def test_a_volume_on_luks_is_encrypted_and_one_of_which_a_part_is_not_is_not(
    tmp_path: Path, devices: Devices
) -> None:
    disk, other = devices.add("sda2"), devices.add("sdb1")
    luks = devices.add("dm-0", disk, uuid="CRYPT-LUKS2-0123-home")
    volume = devices.add("dm-1", luks, uuid="LVM-0123")
    devices.name(tmp_path, volume)
    assert is_disk_encrypted(tmp_path, devices.numbers) is True
    (volume / "slaves" / other.name).symlink_to(other)
    assert is_disk_encrypted(tmp_path, devices.numbers) is False


def test_a_plain_disk_is_not_and_of_what_the_system_does_not_name_nothing_is_said(
    tmp_path: Path, devices: Devices
) -> None:
    assert is_disk_encrypted(tmp_path, devices.numbers) is None
    devices.name(tmp_path, devices.add("sda2"))
    assert is_disk_encrypted(tmp_path, devices.numbers) is False
    assert is_disk_encrypted(tmp_path / "nowhere", devices.numbers) is None


@pytest.mark.parametrize(
    ("is_encrypted", "severity", "said"),
    [
        (True, "fine", "all that Proctor writes to are encrypted"),
        (False, "note", "not encrypted as far as this machine knows: "),
        (None, "note", "nothing is known of "),
    ],
)
def test_the_doctor_says_where_a_disk_is_not_encrypted_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_encrypted: bool | None, severity: str, said: str
) -> None:
    monkeypatch.setattr(disk_encryption, "is_disk_encrypted", lambda _: is_encrypted)
    found = Findings()
    examine_disk_encryption(Settings(home=tmp_path), found)
    (finding,) = found.found
    assert (finding.severity, found.problem_count) == (severity, 0)
    assert said in finding.found
    assert (severity == "fine") or (str(tmp_path) in finding.found and "LUKS" in str(finding.fix))
