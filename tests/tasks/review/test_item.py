from __future__ import annotations

import json

from tasks.review.decisions.item import Item
from tests.tasks.review.conftest import make_question


def test_an_item_is_stored_in_the_order_of_the_contract_and_comes_back() -> None:
    item = Item.from_question(make_question(1, parse_notes=["low"]))
    row = item.as_row("b1")
    assert json.dumps(row["content"]) == (
        '{"question_type": "multiple_choice", "discipline": "Engineering", "sub_discipline": null, '
        '"source_kind": "undergraduate_final", "language": "en", "stem": "A shelf of 1 rows holds ( ) books.", '
        '"material": null, "options": [{"label": "A", "text": "10"}, {"label": "B", "text": "11"}, '
        '{"label": "C", "text": "12"}], "answer": ["B"], "explanation": null, "pictures": null, "document_name": "paper.docx", '
        '"position": 1, "number_label": "1.", "parse_notes": ["low"], "status": "parsed"}'
    )
    assert Item.from_row(row) == item


def test_a_variant_stands_in_no_paper() -> None:
    row = make_question(1)
    for name in ("document_id", "document_name", "position", "number_label", "parse_notes", "status"):
        del row[name]
    item = Item.from_question(row)
    assert (item.source, item.document_id) == (None, None)
    assert "document_name" not in item.as_row("b1")["content"]
    assert Item.from_row(item.as_row("b1")) == item
