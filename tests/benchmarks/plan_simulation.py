"""Three years of plans through the project's own planning code.

They show who is refused, who can be compared, and what the bank pays.

The bank has the paper's shape (LLMEval-Fair, table 6 without Philosophy: 75,815 lineages in ten disciplines, Military
Science 611); 60 candidates of 17 organisations, half of them there from the start, the others released month by month. Every
month is planned and published in a ledger of its own and counted as answered. Sizes: `python -m
tests.benchmarks.plan_simulation --help`.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select, update

from schemas.settings import Settings
from tasks.exam.plan import RunPlan, RunWishes, plan_run, publish_plan
from tasks.exam.plan.bank import BankIndex, Masks, index_bank
from tasks.exam.plan.bank.drawing import draw_order, draw_set, split_anchors
from tasks.exam.plan.due import add_months
from tasks.exam.plan.shares import plan_shares
from tasks.models.registry import RegisteredModel, Registry
from tests.warehouse.bank_rows import BANK
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import allocations, runs, sessions, sets

LINEAGES = {
    "Engineering": 4926,
    "Economics": 9245,
    "Education": 2781,
    "Law": 9262,
    "Literature": 7839,
    "Management": 2448,
    "Science": 6182,
    "History": 1749,
    "Medicine": 30772,
    "Military Science": 611,
}
FIRST_MONTH = "2026-01"


def main(arguments: Sequence[str] = ()) -> None:
    """Simulate each policy, then test the draws."""
    parser = argparse.ArgumentParser(prog="plan_simulation", description=__doc__)
    parser.add_argument("--months", type=int, default=36)
    parser.add_argument("--candidates", type=int, default=60)
    parser.add_argument("--organisations", type=int, default=17)
    parser.add_argument("--policies", nargs="+", default=["shared", "shared-in-2", "unique"])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the paper's bank")
    parser.add_argument("--set-size", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=300, help="sets drawn for the tests of chance")
    sizes = parser.parse_args(arguments)
    bank = make_paper_bank(sizes.scale)
    print(
        f"\n## Plans of {sizes.months} months, {sizes.candidates} candidates of {sizes.organisations} organisations\n"
    )
    print(f"bank: {bank['lineage_uuid'].n_unique():,} lineages, {bank.height:,} questions")
    for policy in sizes.policies:
        with tempfile.TemporaryDirectory(prefix="plans-") as folder:
            report(
                simulate(
                    Path(folder),
                    bank,
                    policy,
                    sizes.months,
                    sizes.candidates,
                    sizes.organisations,
                    sizes.set_size,
                )
            )
    measure_chance(bank, sizes.sets, sizes.set_size)


def make_paper_bank(scale: float = 1.0) -> pl.DataFrame:
    """The bank of the paper: each lineage is an original choice.

    Of three lineages in five, four statements are made from it, one of them true.
    """
    numbers = random.Random(5)
    rows: list[dict[str, object]] = []
    for discipline, count in LINEAGES.items():
        for _ in range(max(1, round(count * scale))):
            lineage = str(uuid.UUID(int=numbers.getrandbits(128), version=4))
            rows.append(_make_row(lineage, lineage, discipline, None))
            if numbers.random() < 0.6:
                rows += [
                    _make_row(
                        lineage, str(uuid.UUID(int=numbers.getrandbits(128), version=4)), discipline, truth
                    )
                    for truth in ("true", "false", "false", "false")
                ]
    return BANK.frame(rows)


def _make_row(lineage: str, question: str, discipline: str, truth: str | None) -> dict[str, object]:
    return {
        "bank_version": 1,
        "question_uuid": question,
        "revision": 1,
        "lineage_uuid": lineage,
        "parent_uuid": None if truth is None else lineage,
        "method": "original" if truth is None else "multiple_choice_to_true_false",
        "document_id": lineage,
        "question_type": "multiple_choice" if truth is None else "true_false",
        "discipline": discipline,
        "source_kind": "other",
        "language": "en",
        "stem": "A stem.",
        "material": None,
        "options": [],
        "answer": ["A"] if truth is None else [truth],
        "explanation": None,
    }


def make_candidates(count: int, organisation_count: int, months: int) -> Registry:
    """The candidates; the first is the reference, too.

    Half are there from the start, the others come month by month.
    """
    models = {}
    for number in range(count):
        later = (
            0
            if number < count // 2
            else 1 + (number - count // 2) * (months - 1) // max(1, count - count // 2)
        )
        released = add_months(FIRST_MONTH, later)
        name = f"candidate-{number:02d}"
        models[name] = RegisteredModel(
            name=name,
            organisation=f"Organisation {number * 7 % organisation_count + 1}",
            family=None,
            release_date=date(int(released[:4]), int(released[5:]), 1),
            is_open=False,
            mode="standard",
            base_model=None,
            endpoint_model=name,
            base_url="http://127.0.0.1:9/v1",
            key_variable=None,
            parameters={},
            input_price_usd=1.0,
            output_price_usd=4.0,
            requests_per_minute=None,
            max_concurrency=None,
            is_simulated=False,
            provider="own",
            roles=("candidate", "reference") if number == 0 else ("candidate",),
        )
    return Registry(models)


@dataclass
class Simulation:
    """What came of one policy."""

    policy: str
    plans: list[RunPlan] = field(default_factory=list)
    contents: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    planning_cpu_s: list[float] = field(default_factory=list)
    publishing_cpu_s: list[float] = field(default_factory=list)
    ledger_mb: float = 0.0


def simulate(
    home: Path,
    bank: pl.DataFrame,
    policy: str,
    months: int,
    candidate_count: int,
    organisation_count: int,
    set_size: int,
) -> Simulation:
    """Plan, publish and count as answered, one month after the other.

    There is one style and one repeat, because the sets are the same.
    """
    registry = make_candidates(candidate_count, organisation_count, months)
    settings = Settings(
        home=home,
        set_size=set_size,
        set_policy=policy.partition("-")[0],
        set_groups=int(policy[-1]) if "-in-" in policy else 1,
        repeats=1,
        prompt_styles=("zero_shot",),
    )
    found = Simulation(policy)
    with open_ledger(settings.ledger_address) as ledger:
        for number in range(months):
            month = add_months(FIRST_MONTH, number)
            before = time.process_time()
            plan = plan_run(ledger, settings, registry, bank, RunWishes(month, is_simulated=False))
            planned = time.process_time()
            if plan.asked_for:
                publish_plan(ledger, plan)
                found.plans.append(plan)
            found.planning_cpu_s.append(planned - before)
            found.publishing_cpu_s.append(time.process_time() - planned)
            _answer(ledger, plan.run_id)
        with ledger.read() as connection:
            query = select(sets.c.set_id, sets.c.lineage_uuid, sets.c.question_uuid, sets.c.discipline)
            for set_id, lineage, question, discipline in connection.execute(query):
                found.contents.setdefault(set_id, []).append((lineage, question, discipline))
    found.ledger_mb = sum(file.stat().st_size for file in home.glob("ledger*.sqlite")) / 1e6
    return found


def _answer(ledger: Ledger, run_id: str) -> None:
    """Count every session of the run as answered in full.

    Its orders are removed to make room: they are not needed any more.
    """
    with ledger.write() as connection:
        own = sessions.c.run_id == run_id
        connection.execute(
            update(sessions)
            .where(own)
            .values(status="closed", answered_count=sessions.c.question_count, closed_at="2026")
        )
        connection.execute(update(runs).where(runs.c.run_id == run_id).values(status="closed"))
        connection.execute(
            allocations.delete().where(allocations.c.session_id.in_(select(sessions.c.session_id).where(own)))
        )


def report(found: Simulation) -> None:
    """Print what the rules promise, and what they cost."""
    refused = Counter(name for plan in found.plans for refusal in plan.refused for name in refusal.candidates)
    own = [(plan, session) for plan in found.plans for session in plan.sessions if not session.is_reference]
    print(f"\n### policy {found.policy}\n")
    print(f"{'runs; sittings of candidates':<78} {len(found.plans)}; {len(own)}")
    print(f"{'candidates refused; refusals':<78} {len(refused)}; {refused.total()}")
    short = [one for plan in found.plans for refusal in plan.refused for one in refusal.shortfalls]
    fewest = Counter(one.discipline for one in short if not one.available)
    left = Counter({one.discipline: one.available for one in short if one.available})
    print(
        f"{'refused for want of; of these with some left, below the least':<78} {dict(fewest)}; {dict(left)}"
    )
    print(f"{'sets drawn':<78} {len(found.contents)}")
    lineages = {lineage for items in found.contents.values() for lineage, _, _ in items}
    print(f"{'lineages of the bank that anybody has met':<78} {len(lineages):,}")
    met: dict[str, set[str]] = {}
    twice = 0
    for _, organisation, set_id in sorted({(plan.month, s.organisation, s.set_id) for plan, s in own}):
        here = {lineage for lineage, _, _ in found.contents[set_id]}
        twice += len(here & met.setdefault(organisation, set()))
        met[organisation] |= here
    print(f"{'lineages met twice by an organisation’s candidates':<78} {twice}")
    print(f"{'questions met by an organisation, most':<78} {max(map(len, met.values())):,}")
    disciplines = {set_id: Counter(d for _, _, d in items) for set_id, items in found.contents.items()}
    for name in ("Military Science", "History"):
        counts = [count[name] for count in disciplines.values()]
        print(
            f"{f'{name}: fewest and most questions in a set; sets without':<78} {min(counts)}–{max(counts)}; {counts.count(0)}"
        )
    _report_anchors(found)
    _report_links(found)
    _report_pairs(found, own)
    last = found.plans[-1].forecast[0]
    print(
        f"{'first to run out after that':<78} {last.organisation}: {last.scarcest}, {last.sets_left[last.scarcest]} sets left"
    )
    for name, values in (("planning", found.planning_cpu_s), ("publication", found.publishing_cpu_s)):
        spread = ", ".join(
            f"month {n + 1}: {values[n]:.2f}" for n in sorted({0, len(values) // 2, len(values) - 1})
        )
        print(f"{f'CPU s of a {name}, median; {spread}':<78} {sorted(values)[len(values) // 2]:.2f}")
    print(f"{'ledger without orders, MB':<78} {found.ledger_mb:.0f}")


def _report_anchors(found: Simulation) -> None:
    new = [taken for plan in found.plans for taken in plan.sets if taken.is_new]
    wanted = sum(taken.wanted_anchors or 0 for taken in new)
    got = sum(taken.anchor_count or 0 for taken in new)
    full = sum(taken.anchor_count == taken.wanted_anchors for taken in new)
    print(
        f"{'anchors drawn of those wanted; sets with all; with none':<78} "
        f"{got:,} of {wanted:,}; {full}; {sum(not taken.anchor_count for taken in new)} of {len(new)}"
    )


def _report_links(found: Simulation) -> None:
    """Report how much of what candidates were asked had been answered before.

    It counts what other organisations had answered in an earlier month.
    """
    answered: dict[str, set[str]] = {}
    linked = total = 0
    for plan in found.plans:
        now: dict[str, set[str]] = {}
        for owner, set_id in {(s.organisation, s.set_id) for s in plan.sessions if not s.is_reference}:
            questions = {question for _, question, _ in found.contents[set_id]}
            total += len(questions)
            linked += sum(bool(answered.get(question, set()) - {owner}) for question in questions)
            for question in questions:
                now.setdefault(question, set()).add(owner)
        for question, owners in now.items():
            answered.setdefault(question, set()).update(owners)
    print(f"{'questions that others had answered in an earlier month':<78} {linked / total:.0%}")


def _report_pairs(found: Simulation, own: Sequence[tuple[RunPlan, Any]]) -> None:
    questions: dict[str, set[str]] = {}
    in_run: dict[tuple[str, str], str] = {}
    for plan, session in own:
        questions.setdefault(session.model, set()).update(q for _, q, _ in found.contents[session.set_id])
        in_run[plan.run_id, session.model] = session.set_id
    pairs = list(combinations(sorted(questions), 2))
    common = sum(bool(questions[one] & questions[other]) for one, other in pairs)
    print(f"{'pairs of candidates with common questions, ever':<78} {common:,} of {len(pairs):,}")
    same = of = 0
    for plan in found.plans:
        for one, other in combinations(plan.candidates, 2):
            of += 1
            same += in_run[plan.run_id, one] == in_run[plan.run_id, other]
    print(f"{'pairs in one run on one set':<78} {same:,} of {of:,}")


def measure_chance(bank: pl.DataFrame, set_count: int, set_size: int) -> None:
    """Test whether draws and orders are uniform, and true and false keys equally frequent.

    The test is χ² with even degrees of freedom.
    """
    index = index_bank(bank, tuple(LINEAGES), bytes(32))
    totals = {name: index.count(name) for name in LINEAGES}
    shares = plan_shares(set_size, totals, is_capped=True, lasting_sets=36, least_share=10).planned
    print(f"\n### Chance, over {set_count} sets\n")
    truth = {
        q: t
        for qs, ts in zip(index.questions, index.truths, strict=True)
        for q, t in zip(qs, ts, strict=True)
    }
    names = dict(zip(index.lineage_uuids, index.names, strict=True))
    drawn: Counter[int] = Counter()
    keys: Counter[str | None] = Counter()
    first: Counter[int] = Counter()
    for number in range(set_count):
        items = draw_set(
            index,
            split_anchors(shares, 0.0),
            Masks(excluded=index.make_mask(), avoided=index.make_mask()),
            asked={},
            seed=f"secret {number}".encode(),
            set_id="set",
        )
        drawn.update(index.positions[item.lineage_uuid] for item in items)
        keys.update(truth[item.question_uuid] for item in items)
        of_set = {item.lineage_uuid: names[item.lineage_uuid] for item in items}
        order = draw_order(of_set, f"seed {number}".encode(), "order")
        ranks = {lineage: rank for rank, lineage in enumerate(sorted(order))}
        first.update(ranks[lineage] * 11 // len(order) for lineage in order[: len(order) // 11])
    for name in ("Medicine", "Military Science"):
        print_chi_square(f"draws of {name} over 11 parts of it", count_parts(index, name, drawn))
    print_chi_square("places of a set in the first eleventh of an order", [first[part] for part in range(11)])
    print(
        f"{'true and false keys among statements made from choices':<78} {keys['true']} and {keys['false']} "
        f"(z = {(keys['true'] - keys['false']) / math.sqrt(keys['true'] + keys['false']):.2f})"
    )


def count_parts(index: BankIndex, discipline: str, drawn: Counter[int]) -> list[float]:
    """How often each of eleven parts of a discipline was drawn, scaled to parts of one size."""
    start, end = index.spans[discipline]
    length = (end - start) // 11
    return [
        sum(drawn[p] for p in range(start + part * length, start + (part + 1) * length)) for part in range(11)
    ]


def print_chi_square(name: str, counts: Iterable[float]) -> None:
    """Print χ² against equal frequencies, and its probability."""
    values = list(counts)
    expected = sum(values) / len(values)
    statistic = sum((value - expected) ** 2 / expected for value in values)
    half = statistic / 2
    p = math.exp(-half) * sum(half**i / math.factorial(i) for i in range((len(values) - 1) // 2))
    print(f"{f'χ² of {name}':<78} {statistic:.1f} (10 degrees of freedom), p = {p:.2f}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
