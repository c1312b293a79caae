"""What asks by its signs, in any language."""

from __future__ import annotations

import pytest

from tasks.ingest.words.signs import asks_by_sign, closes_asking, ends_asking, ends_in_blank


@pytest.mark.parametrize(
    ("text", "anywhere", "at_end", "closing", "blank_last"),
    [
        ("哪一种？", True, True, True, False),
        ("ما هي عاصمة السودان؟", True, True, True, False),
        ('He asked, "Why?"', True, True, True, False),
        ("What is it? It is round.", True, False, False, False),
        ("水的沸点是____度。", True, True, False, False),
        ("水的沸点是（　）。", True, True, True, True),
        ("The root of 9 is ______ .", True, True, True, True),
        ("Er kommt aus ……………", True, True, True, True),
        # a call is no place for an answer, and an address asks nothing
        ("int main() {", False, False, False, False),
        ("    print();", False, False, False, False),
        ("https://example.org/?page=3", False, False, False, False),
        ("Water boils.", False, False, False, False),
    ],
)
def test_a_question_mark_or_a_blank_asks(
    text: str, anywhere: bool, at_end: bool, closing: bool, blank_last: bool
) -> None:
    found = asks_by_sign(text), ends_asking(text), closes_asking(text), ends_in_blank(text)
    assert found == (anywhere, at_end, closing, blank_last)
