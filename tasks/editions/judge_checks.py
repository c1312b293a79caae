"""What control answers and keys say of the judge of an edition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.editions.basis import Basis
    from tasks.statistics.agreement import Bounded, ControlVerdict


def compute_verdict(basis: Basis, most_wrong: float) -> ControlVerdict:
    """What the run's control answers say of the first judge."""
    from tasks.statistics.agreement import compute_controls

    return compute_controls(basis.controls, most_wrong)


def count_keys(basis: Basis) -> tuple[int, int]:
    """On how many of how many answers that a key decides the first judge differs."""
    return sum(apart for apart, _ in basis.keys.values()), sum(total for _, total in basis.keys.values())


def compute_key_share(basis: Basis) -> Bounded | None:
    """The share of them; questions on one text are one cluster. Null without any."""
    from tasks.statistics.agreement import compute_clustered_share

    clusters: dict[str, tuple[int, int]] = {}
    for lineage, (apart, total) in basis.keys.items():
        name = basis.passages.get(lineage, lineage)
        before = clusters.get(name, (0, 0))
        clusters[name] = (before[0] + apart, before[1] + total)
    return compute_clustered_share(list(clusters.values()))


def describe_checks(basis: Basis) -> dict[str, Any]:
    """The columns of `editions` that say what was found."""
    verdict = compute_verdict(basis, 1.0) if basis.controls else None
    apart, total = count_keys(basis)
    return {
        "control_count": verdict and verdict.count,
        "control_wrong_count": verdict and verdict.wrong_count,
        "control_gap": verdict and verdict.gap,
        "key_count": total,
        "key_disagreement_count": apart,
    }
