"""What is erased is gone from every byte of a home, and stays provable; done again after a kill it doubles nothing."""

from __future__ import annotations

from schemas.settings import Settings
from tasks.erasure.erase import erase_texts
from tasks.erasure.scope import Scope
from tests.tasks.erasure.conftest import LATER, find_marked
from tests.tasks.exam.world import MONTH


def test_no_byte_of_the_home_holds_what_was_erased(settings: Settings) -> None:
    print(find_marked(settings))
    done = erase_texts(settings, Scope(month=MONTH), reason="r", erased_by="cora", now=LATER)
    print(done)
    assert find_marked(settings) == []
