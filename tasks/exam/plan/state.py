"""What the ledger shows before a run is planned.

It shows the sets of the season, what was met and answered, and earlier sittings. An organisation has met the lineages of
the sets that it claimed (`set_claims`), a few rows per run, and with them whatever asks about the same passages. The
primary key of `exposures` holds the rule for lineages; it is written with every claim and never read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.exam.plan.request import KnownSet, LedgerState, PastSitting, PlanRequest
from warehouse.ledger.exam import plans
from warehouse.ledger.exam.draws import read_revisions
from warehouse.ledger.trust.organisations import SIMULATED_PREFIX

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Row

    from warehouse.ledger.engine.ledger import Connection


def read_state(connection: Connection, request: PlanRequest) -> LedgerState:
    """Everything that the allotment depends on besides the request."""
    index = request.index
    season = plans.read_season_sets(connection, request.season)
    claims = plans.read_claims(connection, prefix=SIMULATED_PREFIX, is_prefixed=request.is_simulated)
    set_ids = sorted({row.set_id for row in claims} | {found.set_id for found in season})
    positions: dict[str, NDArray[np.int64]] = {}
    read: dict[str, NDArray[np.int64]] = {}
    for set_id, lineages in plans.iter_set_lineages(connection, set_ids):
        positions[set_id] = index.locate(lineages)
        read[set_id] = index.locate_read(lineages)
    owners = {sitter.organisation for sitter in (*request.candidates, *request.references)}
    owners |= {request.find_key(entry.organisation) for entry in request.schedule}
    met = {owner: index.make_mask() for owner in sorted(owners)}
    met_by_any = index.make_mask()
    for row in claims:
        met_by_any[positions[row.set_id]] = True
        owner = request.aliases.get(row.organisation, row.organisation)
        if owner in met and row.claimed_at >= request.rested_before:
            met[owner][positions[row.set_id]] = True
            met[owner][read[row.set_id]] = True
    # Who has met one question of a passage has read it: it does not meet the others later, though that one has left the bank.
    met = {owner: index.add_siblings(mask) for owner, mask in met.items()}
    rested = _find_rested(request, claims, positions)
    references = {sitter.model for sitter in request.references}
    asked, asked_of = _read_asked(connection, request, positions, met)
    groups = plans.read_set_groups(connection, prefix=SIMULATED_PREFIX, is_prefixed=request.is_simulated)
    return LedgerState(
        season_sets=[
            KnownSet(found.set_number, found.set_id, found.set_group, positions[found.set_id])
            for found in season
        ],
        met=met,
        met_by_any=met_by_any,
        rested=rested,
        asked={place: question for place, question in asked.items() if rested is None or not rested[place]},
        asked_of=asked_of,
        first_bank=plans.read_first_bank(connection, is_simulated=request.is_simulated),
        groups={request.aliases.get(row.organisation, row.organisation): row.set_group for row in groups},
        sittings=_read_sittings(connection, request, references),
    )


def _read_sittings(
    connection: Connection, request: PlanRequest, references: set[str]
) -> dict[PastSitting, str | None]:
    """The last sittings that may serve again; editions read those alone, so none before does.

    No judge can be asked about what was erased; and what the policy is about to erase would wait for ever for one run after the other.
    """
    last = {
        PastSitting(row.model, row.set_id, row.prompt_style): row
        for row in plans.read_sittings(connection, references)
    }
    return {
        sitting: row.fingerprint
        for sitting, row in last.items()
        if not row.is_erased and row.planned_at >= request.kept_since
    }


def _find_rested(
    request: PlanRequest, claims: Iterable[Row[Any]], positions: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.bool_] | None:
    """The lineages that as many organisations have met as let one rest, whenever they met it."""
    if request.settings.rest_exposed is None:
        return None
    sets: dict[str, set[str]] = {}
    for row in claims:
        sets.setdefault(request.aliases.get(row.organisation, row.organisation), set()).add(row.set_id)
    met_by = np.zeros(request.index.make_mask().shape, dtype=np.int32)
    for owned in sets.values():
        mask = request.index.make_mask()
        for set_id in owned:
            mask[positions[set_id]] = True
        met_by += mask
    return met_by >= request.settings.rest_exposed


def _read_asked(
    connection: Connection,
    request: PlanRequest,
    positions: dict[str, NDArray[np.int64]],
    met: dict[str, NDArray[np.bool_]],
) -> tuple[dict[int, str], dict[int, int]]:
    """Lineages new to somebody in this run that were answered: the question, and how often."""
    asked: dict[int, str] = {}
    asked_of: dict[int, int] = {}
    if not request.settings.anchor_share or not request.candidates:
        return asked, asked_of
    index = request.index
    met_by_all = ~index.make_mask()
    for sitter in request.candidates:
        met_by_all &= met[sitter.organisation]
    for set_id, count in plans.read_answered_sets(connection, is_simulated=request.is_simulated):
        found = positions.get(set_id)
        if found is None:
            continue
        wanted = [index.lineage_uuids[place] for place in found[~met_by_all[found]].tolist()]
        sealed = read_revisions(connection, set_id)
        answered = list(plans.read_set_questions(connection, set_id, wanted))
        places = index.positions.find_all(lineage for lineage, _ in answered).tolist()
        for place, (_, question) in zip(places, answered, strict=True):
            # A question that has left the bank since, or was edited, is not asked again; nor one that no draw puts any more.
            if question not in index.list_slots(place):
                continue
            revision = index.revisions[place][index.questions[place].index(question)]
            if sealed.get(question, revision) == revision:
                asked[place] = question
                asked_of[place] = asked_of.get(place, 0) + count
    return asked, asked_of
