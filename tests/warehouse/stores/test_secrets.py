from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.stores.secrets import LENGTH, read_home_key


def test_all_who_start_at_once_read_one_key_that_is_its_owners_alone(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: read_home_key(settings, "jwt", "Delete it."), range(64)))
    (key,) = keys
    assert len(bytes.fromhex(key.decode("ascii"))) * 8 == 256
    (path,) = (tmp_path / "secrets").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert read_home_key(settings, "league", "Delete it.") != key


def test_a_key_that_others_may_read_or_that_is_cut_short_is_refused_with_the_way_out(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    read_home_key(settings, "jwt", "Delete it.")
    path = tmp_path / "secrets" / "jwt"
    path.chmod(0o640)
    with pytest.raises(StoreError, match=r"jwt may be read by other users\. .* Delete it\."):
        read_home_key(settings, "jwt", "Delete it.")
    path.chmod(0o600)
    path.write_text("5" * (LENGTH - 1))
    with pytest.raises(StoreError, match=r"jwt is too short .* Delete it\.") as caught:
        read_home_key(settings, "jwt", "Delete it.")
    assert "555" not in str(caught.value).replace(str(tmp_path), "")
