"""Changed stars, answers and published numbers are found, whoever changed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.editions.roots import find_changed_editions, publish_and_keep_root
from tests.fresh import copy_home
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import check_landings
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.editions import read_roots

JUNE = "run-2025-06"
SESSION, OTHER = (f"{JUNE}/east-7b/zero_shot/{repeat}" for repeat in (1, 2))


@pytest.fixture
def ledger(settings: Settings, published_home: Path) -> Iterator[Ledger]:
    copy_home(published_home, settings)
    with open_ledger(settings.ledger_address) as opened:
        yield opened


@pytest.fixture
def published(settings: Settings, ledger: Ledger) -> Iterator[Lake]:
    with open_lake(settings) as lake:
        yield lake


def roots(ledger: Ledger) -> dict[str, str]:
    with ledger.read() as connection:
        return read_roots(connection)


def change(lake: Lake, sql: str) -> None:
    with lake.transaction() as connection:
        connection.execute(sql)


# Each with the unit by which it is found.
CHANGES = {
    f"UPDATE judgements SET stars = 3 - stars WHERE session_id = '{SESSION}' AND seq = 1 AND judge = 'judge-a'": (
        f"judgements/{SESSION}/judge-a/v1"
    ),
    f"INSERT INTO sessions SELECT * FROM sessions WHERE session_id = '{SESSION}'": f"sessions/{SESSION}",
    f"UPDATE responses SET response = 'A better answer.' WHERE session_id = '{SESSION}' AND seq = 1": (
        f"responses/{SESSION}"
    ),
    f"DELETE FROM responses WHERE session_id = '{OTHER}'": f"responses/{OTHER}",
}


def test_changed_stars_and_answers_are_found_with_their_unit_and_nothing_where_nothing_was_changed(
    published: Lake, ledger: Ledger
) -> None:
    found = check_landings(published)
    assert (found.changed, found.unhashed) == ([], 0)
    landed = "SELECT count(*) AS n FROM landings WHERE row_count > 0"
    assert found.checked == published.query(landed).item() > 0
    assert list(roots(ledger)) == [f"{JUNE}/1"]
    assert find_changed_editions(published, roots(ledger)) == []
    for sql in CHANGES:
        change(published, sql)
    assert sorted(check_landings(published).changed) == sorted(CHANGES.values())


OF_EDITIONS = (
    "UPDATE edition_scores SET score = 99 WHERE model = 'east-7b' AND discipline = 'all'",
    "UPDATE edition_stars SET stars_3_count = stars_3_count + 1 WHERE model = 'east-7b'",
    "DELETE FROM edition_pairs WHERE model_a = 'east-70b'",
    "UPDATE editions SET judge = 'judge-b'",
    "UPDATE editions SET overridden_gates = ['unparsed']",
)


class Undone(Exception):
    """What was changed is taken back."""


def test_a_changed_edition_is_not_what_was_published(published: Lake, ledger: Ledger) -> None:
    for sql in OF_EDITIONS:
        with pytest.raises(Undone), published.transaction() as connection:
            connection.execute(sql)
            (fault,) = find_changed_editions(published, roots(ledger))
            assert (fault.edition_id, fault.finding) == (
                f"{JUNE}/1",
                "its rows are not those that were published",
            ), sql
            raise Undone
    assert find_changed_editions(published, roots(ledger)) == []


def test_an_edition_that_is_lost_or_has_another_root_is_held_to_the_ledger(
    published: Lake, ledger: Ledger
) -> None:
    (other,) = find_changed_editions(published, {f"{JUNE}/1": "of something else"})
    assert other.finding == "its root is not the one that the ledger kept when it was published"
    change(published, "DELETE FROM editions")
    (lost,) = find_changed_editions(published, roots(ledger))
    assert lost.finding == "the ledger knows it, and the lake has lost it"


def test_the_first_root_stays_and_a_missing_one_is_said(
    published: Lake, ledger: Ledger, settings: Settings
) -> None:
    before = roots(ledger)
    publish_and_keep_root(ledger, published, settings, JUNE)
    assert roots(ledger) == before
    (fault,) = find_changed_editions(published, {})
    assert "publish the run again" in fault.finding
