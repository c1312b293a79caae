"""A publication that is killed has published all of an edition or nothing.

It is finished by publishing again.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from schemas.settings import Settings
from schemas.tables import TABLES
from tasks.editions.roots import find_changed_editions, publish_and_keep_root
from tests.fresh import copy_home
from warehouse.lake import open_lake
from warehouse.lake.upkeep import check_landings, read_unit
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.editions import read_roots

JUNE = "run-2025-06"
ROOT = Path(__file__).parents[3]
# Without a question that has a picture there is one series of scores, and no row of `edition_series`.
FROZEN = [table.name for table in TABLES.values() if table.is_frozen and table.name != "edition_series"]
# Within the transaction after the first table was written; between the lake and the ledger.
MOMENTS = {
    "in the lake": """
from warehouse.lake import landing
real = landing._insert
def insert(connection, table, path):
    real(connection, table, path)
    if table.startswith("edition"):
        os.kill(os.getpid(), signal.SIGKILL)
landing._insert = insert
""",
    "between lake and ledger": """
from warehouse.ledger.trust import editions
editions.keep_root = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
""",
}
PUBLISH = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from tasks.editions.roots import publish_and_keep_root
from warehouse.lake.store import open_lake
from warehouse.ledger.engine.opening import open_ledger
{moment}
settings = Settings(home=Path(sys.argv[1]), judge_ratings_gate=100)
with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
    publish_and_keep_root(ledger, lake, settings, sys.argv[2])
"""


@pytest.mark.parametrize(
    "moment", ["between lake and ledger", pytest.param("in the lake", marks=pytest.mark.long)]
)
def test_a_killed_publication_is_whole_or_nothing_and_goes_on(
    settings: Settings, season_home: Path, moment: str, warm_python: str
) -> None:
    copy_home(season_home, settings)
    code = PUBLISH.format(moment=MOMENTS[moment])
    done = subprocess.run([warm_python, "-c", code, str(settings.home), JUNE], cwd=ROOT, env=os.environ)
    assert done.returncode == -signal.SIGKILL

    was_landed = moment != "in the lake"
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        found = {table: read_unit(lake, table, f"{JUNE}/1").height for table in FROZEN}
        assert {count > 0 for count in found.values()} == {was_landed}, found
        with ledger.read() as connection:
            assert read_roots(connection) == {}

        edition = publish_and_keep_root(ledger, lake, settings, JUNE)

        assert (edition.edition_id, edition.is_new) == (f"{JUNE}/1", not was_landed)
        with ledger.read() as connection:
            roots = read_roots(connection)
            entries = read_public_entries(connection, JUNE, ("edition",))
        # Whatever the first attempt left, what everybody reads is the edition that stands.
        assert [entry.body["edition"] for entry in entries] == [edition.edition_id]
        folder = settings.home / "public" / "editions" / f"{JUNE}-1"
        head = json.loads((folder / "edition.json").read_text())
        published = lake.read("run_revisions", {"run_id": JUNE})["published_at"][0]
        assert head["published_at"] == published.isoformat()
        for name, digest in entries[0].body["files"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        assert list(roots) == [edition.edition_id]
        assert find_changed_editions(lake, roots) == []
        assert check_landings(lake).changed == []
