"""The same verdicts by any channel give the same rows, and the gate decides alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from openpyxl import load_workbook

from deployments.web import create_app, review_routes
from schemas.settings import Settings
from tasks.review.assigning import Annotator, assign_batch
from tasks.review.batch import read_assignments
from tasks.review.channels.label_studio.reading import read_label_studio
from tasks.review.channels.label_studio.writing import export_label_studio
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.reading import read_workbooks
from tasks.review.channels.workbook.writing import export_batch
from tasks.review.closing import ClosedBatch, close_batch
from tasks.review.overview import is_complete
from tasks.review.recording import RefusedSubmission, Submission, record
from tests.deployments.web.kit import FORM_HEADER, SESSION_COOKIE, make_reference
from tests.tasks.review.channels.label_studio.filling import annotate, read_tasks, save
from tests.tasks.review.channels.workbook.conftest import fill, find_column
from tests.tasks.review.conftest import LATER, NOW, make_frame, make_question
from warehouse.ledger.engine.ledger import Ledger

# Together in one process: each is compared with the first.
pytestmark = pytest.mark.xdist_group("same-decisions")

# What somebody writes for a question, by its number and the fields to fill in.
Verdicts = Mapping[int, Mapping[str, str]]
Channel = Callable[[Ledger, Path, Mapping[str, Verdicts]], Sequence[Submission | RefusedSubmission]]

QUESTIONS = [
    make_question(1),
    make_question(2, stem="=1+1 equals ( )."),
    make_question(3, question_type="true_false", options=[], answer=["false"], explanation="No."),
    make_question(4, question_type="fill_in_the_blank", stem="2 + 2 = ____.", options=[], answer=["5"]),
    make_question(5, language="zh", stem="下列正确的是（ ）。"),
    make_question(6),
]
REJECTED = {"decision": "Reject", "reject_reason": "Unclear", "comment": "which one?"}
EDITED = {"decision": "Edit", "new_answer": "4", "comment": "sum"}
FIRST: dict[str, Verdicts] = {
    "chen": {
        1: {"decision": "Accept"},
        2: {"decision": "Edit", "new_options": "A. 2\nB. 3", "new_answer": "A", "new_explanation": "1 and 1"},
        3: {"decision": "Edit", "new_explanation": "(none)"},
        4: EDITED,
        5: REJECTED,
        6: {"decision": "Accept"},
    },
    "dai": {
        1: {"decision": "Accept", "comment": "fine"},
        2: REJECTED,
        3: {"decision": "Accept"},
        4: EDITED,
        5: REJECTED | {"comment": "=cmd"},
        6: {"decision": "Reject", "reject_reason": "Factual error"},
    },
}
# The disputes, for whoever settles them.
VERDICTS: Verdicts = {2: {"decision": "Accept"}, 6: {"decision": "Edit", "new_answer": "C"}}


def through_workbooks(
    ledger: Ledger, folder: Path, verdicts: Mapping[str, Verdicts]
) -> Sequence[Submission | RefusedSubmission]:
    paths = export_batch(ledger, "b1", folder, language="en")
    chosen = [path for path in paths if any(name in path.name for name in verdicts)]
    for path in chosen:
        (given,) = [one for name, one in verdicts.items() if name in path.name]
        rows = _find_rows(path)
        for number, fields in given.items():
            if number in rows:
                fill(path, **{name: {rows[number]: text} for name, text in fields.items()})
                _make_texts(path, rows[number])
    return read_workbooks(ledger, chosen)


def through_label_studio(
    ledger: Ledger, folder: Path, verdicts: Mapping[str, Verdicts]
) -> Sequence[Submission | RefusedSubmission]:
    paths = export_label_studio(ledger, folder, "b1", language="en")
    chosen = [path for path in paths if any(f"-{name}" in path.name for name in verdicts)]
    for path in chosen:
        (given,) = [one for name, one in verdicts.items() if f"-{name}" in path.name]
        tasks = read_tasks(path)
        fields = {
            place: dict(given[number])
            for place, task in enumerate(tasks, start=1)
            if (number := _NUMBERS[task["data"]["proctor"]["question_uuid"]]) in given
        }
        save(path, annotate(tasks, fields))
    return read_label_studio(ledger, chosen)


def through_pages(
    ledger: Ledger, folder: Path, verdicts: Mapping[str, Verdicts]
) -> Sequence[Submission | RefusedSubmission]:
    """What the pages send goes to the desk by itself: nothing is left to be handed in."""
    app = create_app(Settings(home=folder), ledger=ledger, continue_batch=lambda _: None)
    with pytest.MonkeyPatch.context() as patched, TestClient(app) as client:
        patched.setattr(review_routes, "now_text", lambda: LATER)
        for name, given in verdicts.items():
            cookie = app.state.sessions.start(name)
            token = app.state.sessions.make_form_token(cookie.split(".")[0])
            with ledger.read() as connection:
                own = {one.question_uuid for one in read_assignments(connection, "b1", name)}
            for uuid in sorted(own & {QUESTIONS[number - 1]["question_uuid"] for number in given}):
                reference = make_reference(app.state.key, name, "b1", uuid)
                answer = client.post(
                    f"/review/b1/question/{reference}/decision",
                    json=_write_as_page(given[_NUMBERS[uuid]]),
                    headers={"cookie": f"{SESSION_COOKIE}={cookie}", FORM_HEADER: token},
                )
                assert answer.status_code == 200, answer.text
    return []


def _write_as_page(fields: Mapping[str, str]) -> dict[str, object]:
    """A decision as the page's script sends it: codes, and corrected fields as stored."""
    edit: dict[str, object] = {}
    if "new_options" in fields:
        edit["options"] = [
            {"label": line[0], "text": line[3:]} for line in fields["new_options"].splitlines()
        ]
    if "new_answer" in fields:
        edit["answer"] = [fields["new_answer"]]
    if "new_explanation" in fields:
        edit["explanation"] = None if fields["new_explanation"] == "(none)" else fields["new_explanation"]
    return {
        "decision": fields["decision"].lower(),
        "reject_reason": fields.get("reject_reason", "").lower().replace(" ", "_") or None,
        "comment": fields.get("comment"),
        "edit": edit or None,
        "seen": None,
    }


# A further channel takes its place here: it hands in these verdicts as its people would.
CHANNELS: Mapping[str, Channel] = {
    "workbook": through_workbooks,
    "label_studio": through_label_studio,
    "web": through_pages,
}
_NUMBERS = {row["question_uuid"]: number for number, row in enumerate(QUESTIONS, start=1)}


@pytest.fixture(scope="module")
def landed() -> dict[str, dict[str, pl.DataFrame]]:
    """What each channel landed, for the others to be compared with."""
    return {}


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_channel_gives_the_same_decisions(
    channel: str,
    ledger: Ledger,
    settings: Settings,
    tmp_path: Path,
    landed: dict[str, dict[str, pl.DataFrame]],
) -> None:
    closed = _review(CHANNELS[channel], ledger, settings, tmp_path)
    landed[channel] = {
        "review_assignments": closed.assignments,
        "review_decisions": closed.decisions,
        "reviews": closed.reviews.with_columns(channel=pl.col("channel").replace(channel, "the channel")),
    }
    outcomes = dict(closed.decisions.select("question_uuid", "outcome").iter_rows())
    assert {_NUMBERS[uuid]: outcome for uuid, outcome in outcomes.items()} == {
        1: "accepted",
        2: "accepted",
        3: "accepted",
        4: "accepted",
        5: "rejected",
        6: "accepted",
    }
    assert set(closed.reviews["channel"]) == {channel, "adjudication"}
    first = next(iter(landed.values()))
    assert {name: frame.rows() for name, frame in landed[channel].items()} == {
        name: frame.rows() for name, frame in first.items()
    }


def _review(channel: Channel, ledger: Ledger, settings: Settings, folder: Path) -> ClosedBatch:
    people = [Annotator("chen"), Annotator("dai")]
    assign_batch(ledger, "b1", make_frame(QUESTIONS), people, settings, NOW)
    report = record(ledger, channel(ledger, folder / "first", FIRST), LATER)
    assert not report.refusals, report.refusals[0].message
    with ledger.read() as connection:
        disputes = read_assignments(connection, "b1", role="adjudicator")
    assert len(disputes) == 2
    judges = {one.annotator for one in disputes}
    report = record(ledger, channel(ledger, folder / "second", dict.fromkeys(judges, VERDICTS)), LATER)
    assert not report.refusals and is_complete(ledger, "b1"), report
    return close_batch(ledger, "b1", LATER)


def _find_rows(path: Path) -> dict[int, int]:
    sheet = load_workbook(path)[layout.SHEET]
    column = find_column(sheet, "question_uuid")
    return {_NUMBERS[str(sheet.cell(row, column).value)]: row for row in range(2, sheet.max_row + 1)}


def _make_texts(path: Path, row: int) -> None:
    """What a spreadsheet program keeps as text, openpyxl would write as a formula."""
    book = load_workbook(path)
    for cell in book[layout.SHEET][row]:
        if cell.data_type == "f":
            cell.data_type = "s"
    book.save(path)
