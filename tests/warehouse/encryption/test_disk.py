from __future__ import annotations

import os
from pathlib import Path

import pytest

from warehouse.encryption.disk import is_disk_encrypted


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
