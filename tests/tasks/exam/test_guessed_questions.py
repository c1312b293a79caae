"""A coalition guesses no better than chance, unless a secret was given away.

The figures of docs/security.md are those of `python -m tests.benchmarks.guessed_questions`; this is its small form.
"""

from __future__ import annotations

from typing import Any

from tests.benchmarks.guessed_questions import LEARNED, SCORES, run

SMALL: Any = {"per_discipline": 200, "set_size": 30}


def test_what_is_published_tells_no_attack_what_is_put_next() -> None:
    found = run(5, 2, **SMALL)
    attacks = found["attacks"]
    assert {f"membership: {name}" for name in (*SCORES, LEARNED)} <= set(attacks)
    assert len(attacks) == len(SCORES) + 5
    for name, one in attacks.items():
        # Ten attacks, of fixed seeds: four standard deviations.
        assert abs(one["advantage"]) <= (one["high"] - one["advantage"]) * 4 / 1.96, name


def test_an_attack_succeeds_where_the_operators_share_is_known() -> None:
    attacks = run(2, 1, **SMALL, leak="share")["attacks"]
    assert attacks["membership: its own share of the seed"]["right"] == 1.0


def test_an_attack_succeeds_where_a_salt_is_known() -> None:
    assert run(2, 1, **SMALL, leak="salt")["attacks"]["content: of four texts"]["right"] == 1.0
