from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from schemas.errors import UsageError, WorkbookError
from tasks.league.people.verdicts import ExportedWork, ImportedDecisions, export_waiting, import_decisions
from tests.tasks.league.conftest import MakeWorld, World
from tests.tasks.league.world import ABILITIES, make_rules, play
from warehouse.ledger.trust.users import add_user

THREE = ("sim-a1", "sim-b1", "sim-c1")
Fill = Callable[[str, int, dict[str, Any]], dict[str, str]]


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    made = make_world(memorised=0.5, detection=1.0, false_flag=0.0)
    with made.ledger.write() as connection:
        for name in ("eve", "li", "max"):
            add_user(connection, user_id=name, role="annotator")
    play(made.ledger, made.lake, made.settings, "one", make_rules(THREE, validator_count=3))
    return made


def fill(path: Path, verdicts: Fill) -> None:
    """Fill in the cells of a workbook by sheet and by number of the row.

    What `verdicts` returns for a row and its cells is written by header.
    """
    workbook = load_workbook(path)
    for name in ("questions", "memorised"):
        sheet = workbook[name]
        headers = [str(cell.value) for cell in sheet[1]]
        for number in range(2, sheet.max_row + 1):
            row = {header: sheet.cell(number, place).value for place, header in enumerate(headers, 1)}
            if row["key"]:
                for header, value in verdicts(name, number - 2, row).items():
                    sheet.cell(number, headers.index(header) + 1).value = value
    workbook.save(path)


def all_yes(sheet: str, _number: int, _row: dict[str, Any]) -> dict[str, str]:
    return {"valid": "yes"} if sheet == "questions" else {"memorised": "yes"}


def test_three_people_judge_each_question_and_one_decides_on_each_flag(world: World, tmp_path: Path) -> None:
    flagged = world.lake.query("SELECT count(*) FROM league_memorised_answers").item()
    assert flagged >= 1
    for place, person in enumerate(("eve", "li", "max")):
        path = tmp_path / f"{person}.xlsx"
        exported = export_waiting(world.lake, "one", path, person)
        assert exported == ExportedWork(3, flagged if place == 0 else 0)

        def refuse_first(sheet: str, number: int, row: dict[str, Any]) -> dict[str, str]:
            if sheet == "questions" and number == 0:
                return {"valid": "no", "reason": "no unique result"}
            return all_yes(sheet, number, row)

        fill(path, refuse_first)
        imported = import_decisions(world.ledger, world.lake, "one", path, person)
        assert imported == ImportedDecisions(3, exported.flagged_answers, 0, 0)
        # The same workbook again changes nothing.
        again = import_decisions(world.ledger, world.lake, "one", path, person)
        assert again == ImportedDecisions(0, 0, 0, 3 + exported.flagged_answers)
    votes = world.lake.query(
        "SELECT validity, person_count, valid_count FROM league_question_votes ORDER BY ALL"
    )
    assert votes.rows() == [("accepted", 3, 3), ("accepted", 3, 3), ("refused", 3, 0)]
    assert world.lake.query("SELECT count(*) FROM league_validations").item() == 9
    decisions = (
        world.lake.query("SELECT DISTINCT decision FROM league_memorised_answers").to_series().to_list()
    )
    assert decisions == ["confirmed"]
    rates = world.lake.run_named("league_memorised_rates", {"league_id": "one"})
    counted = world.lake.query(
        "SELECT count(*) FROM league_memorised_answers "
        "ANTI JOIN (FROM league_question_votes WHERE validity = 'refused') USING (league_id, league_question_id)"
    ).item()
    assert rates["confirmed_count"].sum() == counted
    # Two answers to each of three questions, less those to the one that was refused.
    assert sorted(rates["answer_count"]) == [1, 1, 2]
    assert export_waiting(world.lake, "one", tmp_path / "done.xlsx", "eve") == ExportedWork(0, 0)


def test_a_workbook_names_no_candidate_and_what_is_empty_faulty_or_foreign_lands_nothing(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "work.xlsx"
    exported = export_waiting(world.lake, "one", path, "eve")
    texts = [
        str(cell)
        for sheet in load_workbook(path)
        for row in sheet.iter_rows(values_only=True)
        for cell in row
        if cell
    ]
    assert not any(name in text for text in texts for name in (*ABILITIES, "alder", "birch", "cedar"))

    imported = import_decisions(world.ledger, world.lake, "one", path, "eve")
    assert imported == ImportedDecisions(0, 0, exported.questions + exported.flagged_answers, 0)
    for change, message in (
        ({"valid": "perhaps"}, "row 2, column F: the verdict is neither yes nor no"),
        ({"valid": "no"}, "row 2, column G: a refused question without a reason"),
    ):

        def spoil_first(
            sheet: str, number: int, row: dict[str, Any], change: dict[str, str] = change
        ) -> dict[str, str]:
            return change if sheet == "questions" and number == 0 else all_yes(sheet, number, row)

        fill(path, spoil_first)
        with pytest.raises(WorkbookError, match=message):
            import_decisions(world.ledger, world.lake, "one", path, "eve")
    Workbook().save(path)
    with pytest.raises(WorkbookError, match="no sheet 'questions'"):
        import_decisions(world.ledger, world.lake, "one", path, "eve")
    with pytest.raises(UsageError, match="no active user"):
        import_decisions(world.ledger, world.lake, "one", path, "nobody")
    with pytest.raises(UsageError, match="no league 'two'"):
        export_waiting(world.lake, "two", path, "eve")
    assert world.lake.query("SELECT count(*) FROM league_validations").item() == 0
