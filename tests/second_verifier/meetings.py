"""Who met what: nobody meets a lineage twice, and what was committed of it is what happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tests.second_verifier.reading import Bank, Run, World, has_bit


def check_meetings(world: World, whole: Sequence[Run]) -> None:
    """Nobody meets a lineage twice, and the bitmaps say what was met."""
    history: dict[tuple[str, bool], list[tuple[Run, set[str]]]] = {}
    for run in whole:
        bank = world.banks.get(run.commit["bank"]["root"], Bank())
        bits = {one["name"]: one["bits"] for one in run.met}
        sat: dict[str, dict[str, bool]] = {}
        for line in run.order_lines:
            own = sat.setdefault(line["organisation"], {})
            own[line["set"]] = own.get(line["set"], False) or not line["is_reference"]
        for owner in sorted(
            {name.removeprefix("organisation ") for name in bits if name.startswith("organisation ")}
        ):
            past = [
                one
                for one in history.get((owner, is_simulated(run)), [])
                if not _has_rested(world, run, one[0])
            ]
            expected = bank.with_siblings({lineage for _, lineages in past for lineage in lineages})
            given = {x for x, row in bank.rows.items() if has_bit(bits[f"organisation {owner}"], row[0])}
            if expected - given:
                world.found(
                    "exclusions_wrong",
                    f"run {run.name}: {owner} has met {len(expected - given)} lineages more",
                )
            if given - expected and not world.has_former_runs and not _has_undisclosed(world, run):
                world.found(
                    "exclusions_wrong",
                    f"run {run.name}: {owner} has met {len(given - expected)} lineages less",
                )
        for owner, sets in sorted(sat.items()):
            before = history.setdefault((owner, is_simulated(run)), [])
            met = set[str]().union(
                *(lineages for earlier, lineages in before if not _has_rested(world, run, earlier))
            )
            for name, is_candidate in sorted(sets.items()):
                lineages = {item[0] for item in run.sets.get(name, {"items": []})["items"]}
                before.append((run, lineages))
                if not is_candidate:
                    continue
                read = bank.with_siblings(met) - met if met else set[str]()
                if shared := lineages & (met | read):
                    world.found(
                        "lineage_met_twice", f"{owner} meets {len(shared)} lineages of set {name} again"
                    )
                met |= lineages


def is_simulated(run: Run) -> bool:
    return bool(run.commit["is_simulated"])


def _has_rested(world: World, run: Run, earlier: Run) -> bool:
    """Whether the lineages met in the earlier run have rested when the later one is drawn.

    They have if the earlier run was drawn before the day from which the later one still counts what was met.
    """
    rest = run.plan.get("rest_months")
    if rest is None or earlier is run:
        return False
    committed = datetime.fromisoformat(world.entries[run.number - 1]["at"]).astimezone(UTC)
    months = committed.year * 12 + committed.month - 1 - int(rest)
    start = datetime(months // 12, months % 12 + 1, min(committed.day, 28), tzinfo=UTC)
    return datetime.fromisoformat(world.entries[earlier.draws[0][0] - 1]["at"]).astimezone(UTC) < start


def _has_undisclosed(world: World, run: Run) -> bool:
    return any(
        other is not run and not other.is_whole and min(other.commits, default=run.number) < run.number
        for other in world.runs.values()
    )
