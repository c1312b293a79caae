"""What chance decides: questions, keys, orders, anchors; and what a disclosed secret says."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import select

from tasks.exam.plan.bank.bank_index import BankIndex, index_bank, weigh_questions
from tasks.exam.plan.bank.drawing import DisciplineShare, DrawnQuestion, Masks, draw_order, draw_set
from tasks.exam.public.bank.blinding import read_blinding_secret
from tasks.exam.public.hashing import digest
from tests.hunts import tries
from tests.tasks.exam.world import (
    DISCIPLINES,
    SECRET,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import run_plans, run_seals, set_keys, sets

ALPHA, BETA, GAMMA = make_model("alpha"), make_model("beta"), make_model("gamma")
RHO = make_model("rho", roles=("reference",))


def draw(index: BankIndex, key: str, shares: dict[str, int]) -> list[DrawnQuestion]:
    masks = Masks(excluded=index.make_mask(), avoided=index.make_mask())
    wanted = [DisciplineShare(name, share, 0) for name, share in shares.items()]
    return draw_set(index, wanted, masks, asked={}, seed=key.encode(), set_id="set")


def compute_p(counts: Sequence[int]) -> float:
    """Probability of a χ² as large: equal frequencies, an even number of degrees of freedom."""
    expected = sum(counts) / len(counts)
    half = sum((count - expected) ** 2 / expected for count in counts) / 2
    return math.exp(-half) * sum(half**i / math.factorial(i) for i in range((len(counts) - 1) // 2))


@pytest.mark.hunt
def test_every_lineage_is_drawn_as_often_as_any_other_and_every_order_begins_with_any() -> None:
    index = index_bank(make_bank(21, variants=0), DISCIPLINES, SECRET)
    drawn: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for number in range(tries(600, 2000)):
        items = draw(index, f"key {number}", {"Law": 7})
        drawn.update(item.lineage_uuid for item in items)
        start, end = index.spans["Law"]
        names = dict(zip(index.lineage_uuids[start:end], index.names[start:end], strict=True))
        first[draw_order(names, f"seed {number}".encode(), "order")[0]] += 1
    # The keys are fixed; a uniform draw gives a smaller p in one of a thousand choices of them.
    assert compute_p([drawn[lineage] for lineage in sorted(drawn)]) > 0.001
    assert compute_p([first[lineage] for lineage in sorted(first)]) > 0.001
    assert (len(drawn), len(first)) == (21, 21)


@pytest.mark.hunt
def test_statements_made_from_choices_are_as_often_true_as_false() -> None:
    """One in four is true in the bank: drawn as they come, three of four keys were false."""
    index = index_bank(make_bank(40, variants=4, has_keys=True), DISCIPLINES, SECRET)
    truths = dict(
        pair
        for questions, keys in zip(index.questions, index.truths, strict=True)
        for pair in zip(questions, keys, strict=True)
    )
    keys: Counter[str | None] = Counter()
    count = tries(80, 200)
    for number in range(count):
        items = draw(index, f"key {number}", dict.fromkeys(DISCIPLINES, 20))
        keys.update(truths[item.question_uuid] for item in items)
    total = keys["true"] + keys["false"]
    assert total == pytest.approx(60 * count * 4 / 5, rel=0.05)
    assert keys[None] == 60 * count - total
    assert abs(keys["true"] - total / 2) < 4 * math.sqrt(total) / 2


def test_a_lineage_whose_statements_all_have_one_key_is_asked_in_another_form() -> None:
    bank = make_bank(30, variants=1, has_keys=True)  # the original choice, and one statement that is true
    index = index_bank(bank, DISCIPLINES, SECRET)
    items = draw(index, "key", dict.fromkeys(DISCIPLINES, 30))
    originals = set(bank.filter(bank["method"] == "original")["question_uuid"])
    assert {item.question_uuid for item in items} == originals
    only = index_bank(bank.filter(bank["method"] != "original"), DISCIPLINES, SECRET)
    assert len(draw(only, "key", {"Law": 30})) == 30


def test_statements_without_a_readable_key_and_natural_ones_are_drawn_as_they_are() -> None:
    index = index_bank(make_bank(40, variants=3), DISCIPLINES, SECRET)
    assert {truth for truths in index.truths for truth in truths} == {None}


# --- anchors --------------------------------------------------------------------------------------------------------


def read_items(ledger: Ledger, set_id: str) -> dict[str, tuple[str, bool]]:
    with ledger.read() as connection:
        found = connection.execute(
            select(sets.c.lineage_uuid, sets.c.question_uuid, sets.c.is_anchor).where(sets.c.set_id == set_id)
        )
        return {row.lineage_uuid: (row.question_uuid, row.is_anchor) for row in found}


def test_a_fifth_of_a_new_set_are_the_questions_that_others_have_answered_and_nobody_who_shares_it_has_met(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, GAMMA, RHO)
    bank = make_bank(80, variants=4)
    one = make_settings(tmp_path, set_size=30, set_policy="unique")
    plans = {}
    for name in ("alpha", "beta"):
        plans[name] = publish(ledger, one, registry, bank, candidates=[name], run_id=name, seed=name)
        answer_run(ledger, name)
    alpha, beta = (read_items(ledger, plans[name].sets[0].set_id) for name in ("alpha", "beta"))
    # The first set of a bank has none; of the second, six questions are alpha's.
    assert [plans[name].sets[0].anchor_count for name in ("alpha", "beta")] == [0, 6]
    assert sum(is_anchor for _, is_anchor in alpha.values()) == 0
    anchors = {lineage: question for lineage, (question, is_anchor) in beta.items() if is_anchor}
    assert len(anchors) == 6
    assert anchors == {lineage: alpha[lineage][0] for lineage in anchors}
    # Two that share a set: only what neither has met, so nothing of alpha's or beta's.
    shared = make_settings(tmp_path, set_size=30)
    both = publish(ledger, shared, registry, bank, candidates=["alpha", "gamma"], run_id="both", seed="both")
    items = read_items(ledger, both.sets[0].set_id)
    found = {lineage for lineage, (_, is_anchor) in items.items() if is_anchor}
    assert set(items).isdisjoint(alpha)
    assert len(found) == 6
    assert found <= set(beta) - set(alpha)
    assert both.sets[0].wanted_anchors == 6


def test_what_nobody_has_answered_yet_and_what_has_left_the_bank_is_no_anchor(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    settings = make_settings(tmp_path, set_size=30, set_policy="unique")
    bank = make_bank(80, variants=0)
    first = publish(ledger, settings, registry, bank, candidates=["alpha"], run_id="a", seed="a")
    unanswered = publish(ledger, settings, registry, bank, candidates=["beta"], run_id="b", seed="b")
    assert unanswered.sets[0].anchor_count == 0
    answer_run(ledger, "a")
    gone = set(read_items(ledger, first.sets[0].set_id))
    smaller = bank.filter(~bank["lineage_uuid"].is_in(gone))
    later = publish(ledger, settings, registry, smaller, candidates=["beta"], run_id="c", seed="c")
    assert later.sets[0].anchor_count == 0


def test_groups_of_organisations_give_each_other_anchors_where_all_sit_in_the_same_months(
    ledger: Ledger, tmp_path: Path
) -> None:
    models = [make_model(f"m{number}") for number in range(8)]
    registry, bank = make_registry(*models, RHO), make_bank(80, variants=1)
    names = [model.name for model in models]
    counts = {}
    for groups in (1, 2):
        settings = make_settings(
            tmp_path, set_size=30, set_groups=groups, disciplines=DISCIPLINES[: groups + 1]
        )
        for number in range(3):
            plan = publish(
                ledger,
                settings,
                registry,
                bank,
                candidates=names,
                run_id=f"{groups} {number}",
                seed=f"{groups} {number}",
            )
            answer_run(ledger, plan.run_id)
            counts[groups, number] = [(taken.is_new, taken.anchor_count) for taken in plan.sets]
    # All together: whatever has been answered, everybody has met.
    assert [counts[1, number] for number in range(3)] == [[(True, 0)]] * 3
    assert [len(counts[2, number]) for number in range(3)] == [2, 2, 2]
    assert counts[2, 2] == [(True, 6), (True, 6)]


# --- slots ----------------------------------------------------------------------------------------------------------


def compute_chances(truths: Sequence[str | None]) -> list[Fraction]:
    """The probability of each question by the rule in words.

    Any question is drawn; if it is a statement, true or false is drawn first, then any of these.
    """
    chances = [Fraction(0)] * len(truths)
    for truth in truths:
        # One question is met with the probability 1/n; where it is a statement, which one is put is decided anew.
        if truth is None:
            groups = None
        elif {"true", "false"} <= set(truths):
            groups = [[place for place, one in enumerate(truths) if one == key] for key in ("true", "false")]
        else:
            groups = [[place for place, one in enumerate(truths) if one is None] or list(range(len(truths)))]
        if groups is None:
            continue
        for group in groups:
            for place in group:
                chances[place] += Fraction(1, len(truths)) / len(groups) / len(group)
    return [
        chance + (Fraction(1, len(truths)) if truth is None else 0)
        for chance, truth in zip(chances, truths, strict=True)
    ]


def test_slots_hold_each_question_as_often_as_the_rule_in_words_draws_it() -> None:
    for others, true, false in [*product(range(4), range(4), range(5))][1:]:
        truths = [None] * others + ["true"] * true + ["false"] * false
        weights = weigh_questions(truths)
        assert [Fraction(weight, sum(weights)) for weight in weights] == compute_chances(truths), truths
        # No more slots than it takes.
        assert math.gcd(*weights) == 1, truths


# --- secrets --------------------------------------------------------------------------------------------------------


def test_nothing_of_a_run_says_what_another_draws(ledger: Ledger, tmp_path: Path) -> None:
    registry, settings, bank = make_registry(ALPHA, RHO), make_settings(tmp_path), make_bank()
    for run_id in ("a", "b"):
        publish(ledger, settings, registry, bank, candidates=["alpha"], run_id=run_id, seed=None)
    with ledger.read() as connection:
        seeds = {str(row.run_id): str(row.seed) for row in connection.execute(select(run_plans))}
        query = select(set_keys).order_by(set_keys.c.set_id)
        keys = {str(row.set_id): str(row.draw_key) for row in connection.execute(query)}
        shares = set(connection.execute(select(run_seals.c.share)).scalars())
    # Shares, seeds and keys of sets: none of a run is one of the other.
    assert len({*seeds.values(), *keys.values(), *shares}) == 6
    assert list(keys.values()) == [
        digest("proctor set", bytes.fromhex(seeds[run_id]), set_id).hex()
        for run_id, set_id in zip(("a", "b"), keys, strict=True)
    ]
    index = index_bank(bank, DISCIPLINES, read_blinding_secret(settings))
    met = index.make_mask()
    for run_id, set_id in zip(("a", "b"), keys, strict=True):
        content = set(read_items(ledger, set_id))

        def draw_with(secret: str, label: str = set_id) -> set[str]:
            wanted = [DisciplineShare(name, 2, 0) for name in DISCIPLINES]
            seed = bytes.fromhex(secret)
            items = draw_set(
                index, wanted, Masks(excluded=met, avoided=met), asked={}, seed=seed, set_id=label
            )
            return {item.lineage_uuid for item in items}

        # Its own seed proves the draw; neither that of the other run nor any share says anything of it.
        assert draw_with(seeds[run_id]) == content
        for other in {*seeds.values(), *shares} - {seeds[run_id]}:
            assert draw_with(other) != content
        met[index.locate(content)] = True


def test_a_draw_in_words_of_the_page_gives_the_same_set() -> None:
    """The draw of docs/verify.md, written out with SHA-256 alone."""
    index = index_bank(make_bank(30, variants=4, has_keys=True), DISCIPLINES, SECRET)
    start, end = index.spans["Law"]
    excluded, avoided = index.make_mask(), index.make_mask()
    excluded[start : start + 5] = True
    avoided[start + 5 : start + 22] = True
    asked = {start + place: index.list_slots(start + place)[-1] for place in range(8)}
    seed = hashlib.sha256(b"seed").digest()
    shares = [DisciplineShare("Law", 12, 2)]
    items = draw_set(
        index, shares, Masks(excluded=excluded, avoided=avoided), asked=asked, seed=seed, set_id="season/0001"
    )

    def key_of(tag: str) -> bytes:
        parts = (tag.encode(), seed, b"season/0001")
        return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).digest()

    def sort_by(key: bytes, positions: Iterable[int]) -> list[int]:
        return sorted(positions, key=lambda position: hashlib.sha256(key + index.names[position]).digest())

    anchors = sort_by(key_of("proctor anchors"), range(start + 5, start + 8))[:2]
    free = sort_by(key_of("proctor set"), range(start + 22, end))
    rest = sort_by(key_of("proctor set"), set(range(start + 5, start + 22)) - set(anchors))
    # Eight are not avoided; of the twelve, two are anchors and two must come from those avoided.
    assert len(free) == 8
    others = [*free, *rest[:2]]
    slots = {}
    for position in others:
        held = index.list_slots(position)
        ticket = hashlib.sha256(key_of("proctor slots") + index.names[position]).digest()
        slots[position] = held[int.from_bytes(ticket[:8], "big") % len(held)]
    expected = {**{position: asked[position] for position in anchors}, **slots}
    assert {item.position: item.question_uuid for item in items} == expected
    assert [item.position for item in items if item.is_anchor] == anchors
    assert all(index.list_slots(item.position)[item.slot] == item.question_uuid for item in items)
