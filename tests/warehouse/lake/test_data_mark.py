"""A lake whose files or catalog lie elsewhere is used only where the marks agree.

The mark among its files must be the one that its catalog knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.object_store import BUCKET, SECRET, ObjectStore, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import open_lake
from warehouse.lake.data_mark import MARK_FILE
from warehouse.lake.upkeep import compact_lake
from warehouse.stores.homes import adopt_stores
from warehouse.stores.installation import write_home_id

pytestmark = [pytest.mark.service, pytest.mark.long]


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with start_object_store() as started:
        yield started


@pytest.fixture
def values(store: ObjectStore, postgresql: PostgresqlServer, tmp_path: Path) -> dict[str, object]:
    """Settings of a lake of the test's own."""
    prefix = f"s3://{BUCKET}/{tmp_path.name}"
    return {"home": tmp_path / "home", "lake_catalog": postgresql.new_catalog(), "lake_data": prefix}


def give_home(values: dict[str, object], installation_id: str, **changes: object) -> Settings:
    """A home of an installation, whose lake these values name."""
    settings = Settings.model_validate(values | changes)
    write_home_id(settings, installation_id)
    return settings


def test_files_of_another_lake_and_a_prefix_without_them_are_refused_before_anything_is_written(
    values: dict[str, object], store: ObjectStore, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    installation_id = adopt_stores(Settings.model_validate(values))
    prefix = str(values["lake_data"])
    ours = give_home(values, installation_id)
    with open_lake(ours) as lake:
        # No file yet: the mark alone tells the prefix from another.
        assert len(store.list_keys(f"{tmp_path.name}/{MARK_FILE}")) == 1
    empty = give_home(values, installation_id, home=tmp_path / "empty", lake_data=f"{prefix}-empty")
    with pytest.raises(StoreError, match="its mark and its newest file are missing"):
        open_lake(empty)
    with open_lake(ours) as lake:
        lake.land("sessions", "one", session_frame(3))

    # Another lake, with a catalog of its own, is pointed at the same prefix.
    strange = {**values, "home": tmp_path / "strange", "lake_catalog": postgresql.new_catalog()}
    other_id = adopt_stores(Settings.model_validate(strange | {"lake_data": f"{prefix}-other"}))
    other = give_home(strange, other_id, lake_data=f"{prefix}-other")
    open_lake(other).close()
    before = store.list_keys()
    for settings in (
        give_home(strange, other_id),
        give_home(values, installation_id, lake_data=f"{prefix}-other"),
    ):
        for read_only in (False, True):
            with pytest.raises(StoreError, match="are another lake's") as refusal:
                open_lake(settings, read_only)
            assert SECRET not in str(refusal.value)
    with pytest.raises(StoreError, match="its mark and its newest file are missing"):
        open_lake(empty)
    assert store.list_keys() == before


def test_a_lake_of_before_is_marked_where_its_newest_file_lies_and_keeps_its_mark_when_it_is_compacted(
    values: dict[str, object], store: ObjectStore, tmp_path: Path
) -> None:
    before = Settings.model_validate(values)
    with open_lake(before) as lake:
        lake.land("sessions", "one", session_frame(3))
    installation_id = adopt_stores(before)
    mark = f"{tmp_path.name}/{MARK_FILE}"
    assert mark not in store.list_keys()
    wrong = give_home(
        values, installation_id, home=tmp_path / "wrong", lake_data=f"{values['lake_data']}-wrong"
    )
    with pytest.raises(StoreError, match="are not those of the lake"):
        open_lake(wrong)
    settings = give_home(values, installation_id)
    open_lake(settings, read_only=True).close()
    assert mark not in store.list_keys()

    with open_lake(settings) as lake:
        assert mark in store.list_keys()
        # As after a restore of the files alone, or a kill between mark and catalog.
        store.client().delete_object(Bucket=BUCKET, Key=mark)
        compact_lake(lake, keep_days=0)
    with open_lake(settings) as lake:
        compact_lake(lake, keep_days=0)
        assert lake.query("SELECT count(*) AS n FROM sessions")["n"].item() == len(session_frame(3))
    assert mark in store.list_keys()
