from __future__ import annotations

import stat
from pathlib import Path

from schemas.settings import Settings
from tasks.bank.augment.landing import land_variants
from tasks.operations.validation.questions import check_questions
from tests.fresh import open_new_lake
from tests.tasks.bank.augment.conftest import make_accepted, make_frame, make_options
from tests.warehouse.sample_rows import make_question, question_frame


def test_the_editors_page_says_what_failed_and_where(tmp_path: Path) -> None:
    with open_new_lake(Settings(home=tmp_path / "home")) as lake:
        questions = [
            make_question(
                1,
                stem="<b>The tree in the figure above</b> has ( ) nodes.",
                language="en",
                document_name="a&b.docx",
            ),
            make_question(2, stem="A tree has ( ) nodes.", answer=[]),
        ]
        lake.land("questions", questions[0]["document_id"], question_frame(questions))
        refused = make_accepted(
            "A grove has ( ) trees.", options=make_options("1", "None of the above"), answer=["B"]
        )
        lake.land("review_decisions", "b1", make_frame(make_accepted(), refused))
        land_variants(lake)
        check, path = check_questions(lake, tmp_path / "pages")
    assert (check.originals, check.variants) == (2, 4)
    assert check.counts["nothing_absent_is_referred_to"] == 1
    assert check.counts["answer_is_not_empty"] == 1
    (place,) = check.places["key_does_not_refer_to_other_options"]
    assert (place.kind, place.source, place.question_uuid) == ("refused", "b1", refused["question_uuid"])
    page = path.read_text("utf-8")
    assert "&lt;b&gt;The tree in the figure above" in page
    assert "a&amp;b.docx, 2" in page
    assert "<script" not in page
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
