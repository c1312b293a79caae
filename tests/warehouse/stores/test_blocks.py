"""A block that holds something lets go of it, whenever a Ctrl-C comes."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.warehouse.interrupts import interrupt_everywhere
from warehouse.stores.blocks import block


def test_a_block_holds_nothing_after_a_ctrl_c_at_any_moment() -> None:
    held: list[int] = []

    @block
    def holding() -> Generator[int]:
        try:
            held.append(1)
            yield len(held)
        finally:
            held.clear()

    def use() -> None:
        with holding() as count:
            assert count == 1

    moments = 0
    for interrupted in interrupt_everywhere(use, lambda _: True):
        assert (held, interrupted.__traceback__ is None) == ([], False)
        moments += 1
    assert moments > 10


def test_a_block_is_a_context_manager_of_the_library_else() -> None:
    ended: list[str] = []

    @block
    def swallowing(kind: type[Exception]) -> Generator[str]:
        try:
            yield "inside"
        except kind:
            ended.append("swallowed")
        ended.append("over")

    with swallowing(ValueError) as where:
        assert where == "inside"
        raise ValueError
    with pytest.raises(KeyError), swallowing(ValueError):
        raise KeyError
    assert ended == ["swallowed", "over"]
