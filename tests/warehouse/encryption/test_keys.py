"""Where keys may come from, and what is said of those that may not; never a character of a key."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import ProctorError, StoreError, UsageError
from schemas.settings import Settings
from warehouse.encryption.keys import add_key, read_key_ring, require_key_ring


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "keys.json"


@pytest.fixture
def settings(tmp_path: Path, file: Path) -> Settings:
    return Settings(home=tmp_path / "home", encryption_key_file=file)


def test_a_key_file_is_its_owners_alone_and_its_newest_key_encrypts(settings: Settings, file: Path) -> None:
    first, second = add_key(settings, file), add_key(settings, file)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    ring = read_key_ring(settings)
    assert ring is not None
    assert [key.key_id for key in ring.keys] == [first.key_id, second.key_id]
    assert ring.newest == second
    assert len(second.secret) * 8 == 256
    assert "secret" not in repr(ring)
    assert [path.name for path in file.parent.iterdir()] == ["keys.json"]


def test_of_many_keys_that_are_added_at_once_none_is_lost(settings: Settings, file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {key.key_id for key in pool.map(lambda _: add_key(settings, file), range(16))}
    ring = read_key_ring(settings)
    assert ring is not None
    assert {key.key_id for key in ring.keys} == made
    assert len(made) == 16


@pytest.mark.parametrize("inside", ["keys.json", "secrets/keys.json", "archive/keys.json", "link.json"])
def test_a_key_inside_the_home_is_refused_also_by_a_link(tmp_path: Path, file: Path, inside: str) -> None:
    home = tmp_path / "home"
    place = home / inside
    place.parent.mkdir(parents=True)
    settings = Settings(home=home, encryption_key_file=place)
    if inside == "link.json":
        add_key(Settings(home=tmp_path / "other"), home / "real.json")
        place = tmp_path / "link.json"
        place.symlink_to(home / "real.json")
        settings = Settings(home=home, encryption_key_file=place)
    with pytest.raises(UsageError, match=r"lies inside .*Move it out of there"):
        read_key_ring(settings)
    with pytest.raises(UsageError, match="lies inside"):
        add_key(settings, place)


def test_a_key_file_that_others_may_read_is_refused(settings: Settings, file: Path) -> None:
    add_key(settings, file)
    file.chmod(0o640)
    with pytest.raises(StoreError, match=r"may be read by other users\. .*proctor encryption rotate"):
        read_key_ring(settings)


def test_what_is_no_key_file_is_said_so_without_a_character_of_it(settings: Settings, file: Path) -> None:
    add_key(settings, file)
    text = file.read_text()
    secret = json.loads(text)["keys"][0]["secret"]
    for wrong in (
        "",
        "no JSON",
        "[]",
        '{"form": 1, "keys": []}',
        text.replace('"form": 1', '"form": 2'),
        text.replace(secret, secret[:-4]),
        text.replace(secret, "A" * 43 + "="),
        text.replace(secret, "!" * 44),
        re.sub(r'"made_at": "[^"]+"', '"made_at": "then"', text),
    ):
        file.write_text(wrong)
        with pytest.raises(StoreError, match="does not give keys") as caught:
            read_key_ring(settings)
        assert secret[:8] not in str(caught.value)
    file.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        read_key_ring(settings)


def test_a_command_gives_keys_and_is_never_shown(tmp_path: Path, file: Path, settings: Settings) -> None:
    key = add_key(settings, file)
    home = tmp_path / "home"
    ring = read_key_ring(Settings(home=home, encryption_key_command=f"cat '{file}'"))
    assert ring is not None
    assert ring.newest == key
    for command, said in (
        ("sh -c 'echo s3cr3t; exit 3'", "failed with exit code 3"),
        ("no-such-program-s3cr3t", "cannot be run"),
        ("echo s3cr3t", "does not give keys"),
        ("'", "cannot be run"),
    ):
        with pytest.raises(StoreError, match=said) as caught:
            read_key_ring(Settings(home=home, encryption_key_command=command))
        assert "s3cr3t" not in str(caught.value)


def test_without_keys_nothing_is_encrypted_and_what_needs_them_says_so(tmp_path: Path, file: Path) -> None:
    plain = Settings(home=tmp_path / "home")
    assert read_key_ring(plain) is None
    with pytest.raises(StoreError, match=r"The backup is encrypted, and no key is given\. Set PROCTOR_ENC"):
        require_key_ring(plain, "The backup is encrypted")
    both = Settings(home=tmp_path / "home", encryption_key_file=file, encryption_key_command="true")
    with pytest.raises(ProctorError, match="both set"):
        read_key_ring(both)
