"""Who is named for a leak, and who is accused wrongly: simulated leaks of 20 organisations.

    python -m tests.benchmarks.leak_tracing [--leaks 4000]

Every organisation has sat three sets of 1,000 lineages out of 20,000 with two variants each (or as many as a scene says), either
sets of its own or, shared, those of its group (five groups of four). In a marked scene those of a group sit the same lineages, and
for a share of these each is put a variant that is drawn for it alone: what such marks would bring, were they given. Reworded
questions are known by their lineage only; a share of them is not found, and a share of those found is matched to another lineage,
drawn at random.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.contamination.leaked_texts import EXACT, REWORDED
from tasks.contamination.tracing import NOISE
from tasks.statistics.leaks import ACCUSED, trace_leak

ORGANISATIONS = 20
LINEAGES = 20_000
SET_SIZE = 1_000
SETS = 3
VARIANTS = 2
# Orders of four options.
OPTION_ORDERS = 24
GROUP_SIZE = 4


@dataclass(frozen=True)
class Scene:
    """One kind of leak.

    Attributes:
        sources: how many organisations give the questions; 0: drawn from the bank by somebody else.
        questions: how many leak.
        is_reworded: matched by lineage, with the shares below.
        found: share of the reworded questions that is found.
        wrong: share of those found that is matched to another lineage.
        added: share of the questions that comes from the bank at random.
        is_shared: organisations of a group sit the same sets.
        met: how many lineages each organisation has met.
        marked: share of the lineages of a shared set of which each organisation of a group is put a variant of its own.
        is_twin: the source is somebody outside who was put the lineages of a group, in variants of its own.
        variants: how many variants of a lineage there are: two wordings, or the 24 orders of four options.
    """

    sources: int = 1
    questions: int = 20
    is_reworded: bool = False
    found: float = 1.0
    wrong: float = 0.0
    added: float = 0.0
    is_shared: bool = False
    met: int = SETS * SET_SIZE
    marked: float = 0.0
    is_twin: bool = False
    variants: int = VARIANTS


# Organisations of a group sit the same lineages, and variants of some or all of these mark them.
MARKED: dict[str, dict[str, Any]] = {
    "one of a group, all lineages marked": {"marked": 1.0},
    "one of a group, half of them marked": {"marked": 0.5},
    "one of a group, a fifth of them marked": {"marked": 0.2},
    "two organisations, all lineages marked": {"sources": 2, "marked": 1.0},
    "three organisations, all lineages marked": {"sources": 3, "marked": 1.0},
    "nobody of them, all lineages marked": {"sources": 0, "marked": 1.0},
    "somebody else with a group's lineages, all marked": {"sources": 0, "marked": 1.0, "is_twin": True},
    "somebody else with a group's lineages, half of them marked": {
        "sources": 0,
        "marked": 0.5,
        "is_twin": True,
    },
}
SCENES = {
    "one organisation, 20 questions word for word": Scene(),
    "one organisation, 5 word for word": Scene(questions=5),
    "one organisation, 20 of which a fifth is not its own": Scene(added=0.2),
    "one organisation, 20 reworded (half found, a tenth of them wrongly)": Scene(
        is_reworded=True, found=0.5, wrong=0.1
    ),
    "one organisation, 20 reworded (a fifth found, a third of them wrongly)": Scene(
        is_reworded=True, found=0.2, wrong=1 / 3
    ),
    "two organisations, 20 word for word": Scene(sources=2),
    "two organisations, 20 reworded (half found, a tenth wrongly)": Scene(
        sources=2, is_reworded=True, found=0.5, wrong=0.1
    ),
    "three organisations, 20 word for word": Scene(sources=3),
    "four organisations, 20 word for word": Scene(sources=4),
    "nobody of them, 20 word for word": Scene(sources=0),
    "nobody of them, 3 word for word": Scene(sources=0, questions=3),
    "nobody of them, 2 word for word, 100 met": Scene(sources=0, questions=2, met=100),
    "one of a group that shares its sets, 20 word for word": Scene(is_shared=True),
    **{
        f"{name}, {variants} variants": Scene(is_shared=True, variants=variants, **changes)
        for variants in (VARIANTS, OPTION_ORDERS)
        for name, changes in MARKED.items()
    },
}


@dataclass
class Counts:
    """What came of the leaks of a scene.

    It counts all sources named, at least one named, and an innocent organisation accused.
    """

    leaks: int = 0
    all_named: int = 0
    one_named: int = 0
    wrongly_accused: int = 0
    innocent: int = 0


def measure_scene(scene: Scene, leaks: int, seed: int = 0) -> Counts:
    """The counts over so many leaks; sets are drawn again for every hundredth."""
    generator = np.random.default_rng(seed)
    counts = Counts()
    variants = _draw_holdings(generator, scene)
    for leak in range(leaks):
        if leak and leak % 100 == 0:
            variants = _draw_holdings(generator, scene)
        _count_leak(counts, scene, variants, generator)
    return counts


def _draw_holdings(generator: np.random.Generator, scene: Scene) -> np.ndarray:
    """The variant of each lineage that each organisation met, -1 for none.

    The shape is (organisations, lineages).
    """
    rows = ORGANISATIONS // GROUP_SIZE if scene.is_shared else ORGANISATIONS
    met = np.full((rows, LINEAGES), -1, dtype=np.int8)
    for row in met:
        drawn = generator.choice(LINEAGES, scene.met, replace=False)
        row[drawn] = generator.integers(0, scene.variants, len(drawn))
    if not scene.is_shared:
        return met
    shared = np.repeat(met, GROUP_SIZE, axis=0)
    for group in range(rows if scene.marked else 0):
        marked = np.flatnonzero((met[group] >= 0) & _find_marked(scene))
        for row in shared[group * GROUP_SIZE : (group + 1) * GROUP_SIZE]:
            row[marked] = generator.integers(0, scene.variants, len(marked))
    return shared


def _find_marked(scene: Scene) -> np.ndarray:
    """Which lineages have equivalent variants: a fact of the bank, the same for everybody."""
    return np.arange(LINEAGES) % 10 < round(10 * scene.marked)


def _count_leak(counts: Counts, scene: Scene, variants: np.ndarray, generator: np.random.Generator) -> None:
    sources = generator.choice(ORGANISATIONS, scene.sources, replace=False)
    leaked: dict[int, int] = {}
    if scene.is_twin:
        first = int(generator.integers(ORGANISATIONS // GROUP_SIZE)) * GROUP_SIZE
        group = variants[first : first + GROUP_SIZE]
        for lineage in generator.choice(
            np.flatnonzero(group[0] >= 0), scene.questions, replace=False
        ).tolist():
            # Somebody else is put a variant drawn anew where it is a mark, and elsewhere that of the whole group.
            own = int(generator.integers(scene.variants))
            leaked[lineage] = own if _find_marked(scene)[lineage] else int(group[0, lineage])
    while len(leaked) < scene.questions:
        lineage = int(generator.integers(LINEAGES))
        variant = int(generator.integers(scene.variants))
        if len(sources) and generator.random() >= scene.added:
            row = variants[generator.choice(sources)]
            lineage = int(generator.choice(np.flatnonzero(row >= 0)))
            variant = int(row[lineage])
        leaked[lineage] = variant
    if scene.is_reworded:
        leaked = {
            int(generator.integers(LINEAGES)) if generator.random() < scene.wrong else lineage: variant
            for lineage, variant in leaked.items()
            if generator.random() < scene.found
        }
    lineages = np.array(list(leaked), dtype=np.int64)
    found = variants[:, lineages]
    held = found >= 0 if scene.is_reworded else found == np.array(list(leaked.values()))
    suspicion = trace_leak(
        held,
        np.full(ORGANISATIONS, float(scene.met)),
        np.full(len(lineages), 1 / LINEAGES),
        np.full(len(lineages), NOISE[REWORDED if scene.is_reworded else EXACT]),
    )
    accused = set(np.flatnonzero(suspicion.members >= ACCUSED).tolist())
    guilty = set(sources.tolist())
    counts.leaks += 1
    counts.all_named += bool(guilty) and guilty <= accused
    counts.one_named += bool(guilty & accused)
    counts.wrongly_accused += bool(accused - guilty)
    counts.innocent += ORGANISATIONS - len(guilty)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--leaks", type=int, default=4_000)
    chosen = parser.parse_args(arguments)
    total = Counts()
    for number, (name, scene) in enumerate(SCENES.items()):
        found = measure_scene(scene, chosen.leaks, seed=number)
        # Marks that are not given say nothing of the accusations that are made.
        if not scene.marked:
            total.leaks += found.leaks
            total.wrongly_accused += found.wrongly_accused
        print(
            f"{name}: all named {found.all_named / found.leaks:.4f}, at least one {found.one_named / found.leaks:.4f}, "
            f"an innocent one accused {found.wrongly_accused / found.leaks:.5f} ({found.wrongly_accused} of {found.leaks})",
            flush=True,
        )
    print(f"Together, without the marked: {total.wrongly_accused} wrong accusations in {total.leaks} leaks.")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
