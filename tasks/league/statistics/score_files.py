"""Raw scores of a league that was made elsewhere, from the files that they come in.

Bytes become records; nothing is landed.

Workbooks are recognised by what their sheets hold, in the three forms in which League of LLMs released its own:

- blocks side by side, one for each independent run: candidates x rounds, each cell the mean score that an answer got. The asker
  of a round has no answer to its own question and holds 0 there;
- a sheet for each answerer: askers x mean score;
- runs x k: top-k overlaps without the lists behind them.

CSV and Parquet hold one row per score, with the columns of `COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.lazy import pl
from tasks.texts import read_table

COLUMNS = ("league_run", "round", "asker", "judge", "answerer", "score", "rank", "domain", "run_type")
_NUMBERS = ("league_run", "round", "rank")
_SUM_TOLERANCE = 1e-6
_MOST_NUMBER = 1_000_000_000
_Cells = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Score:
    """One score as a file gives it; what the file does not say is null."""

    answerer: str
    score: float | None
    rank: int | None = None
    league_run: int | None = None
    round: int | None = None
    asker: str | None = None
    judge: str | None = None
    domain: str | None = None
    run_type: str | None = None


@dataclass(frozen=True)
class TopKOverlap:
    """A top-k overlap of a run, as a file gives it."""

    run_name: str
    k: int
    overlap: float


@dataclass(frozen=True)
class ScoreFile:
    """What a file holds.

    Attributes:
        scores: in the order of the file.
        overlaps: top-k overlaps.
        sheets_left: sheets that hold nothing of that kind, as a rule what was computed from the others.
    """

    source: str
    scores: Sequence[Score] = ()
    overlaps: Sequence[TopKOverlap] = ()
    sheets_left: Sequence[str] = field(default=())


def parse_score_file(path: Path) -> ScoreFile:
    """Every score of a file; UsageError naming file, sheet and cell for what is no score."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise UsageError(f"{path} is not a file. Name a workbook (.xlsx), a CSV or a Parquet file of scores.")
    if suffix == ".xlsx":
        found = _parse_workbook(path)
    elif suffix in (".csv", ".parquet"):
        found = ScoreFile(path.name, scores=_parse_rows(path.name, read_table(path, as_text=True)))
    else:
        raise UsageError(f"{path.name}: {suffix or 'no suffix'} is not read; use .xlsx, .csv or .parquet.")
    if not found.scores and not found.overlaps:
        raise UsageError(
            f"{path.name} holds no score. A workbook needs a sheet with `Model name` and rounds, `model name` and `final score`, "
            f"or `TOP-k`; a CSV or Parquet file the columns answerer and score (or rank), and as many of {', '.join(COLUMNS)} "
            "as are known."
        )
    return found


def _parse_workbook(path: Path) -> ScoreFile:
    from tasks.review.marking import open_workbook

    scores: list[Score] = []
    overlaps: list[TopKOverlap] = []
    left: list[str] = []
    book = open_workbook(path, values_only=True)
    for sheet in book.worksheets:
        place = f"{path.name}, sheet {sheet.title}"
        cells: _Cells = [tuple(_clean(value) for value in row) for row in sheet.iter_rows(values_only=True)]
        head = [str(value).lower() for value in cells[0] if value is not None] if cells else []
        if "round 1" in head:
            scores += _parse_blocks(place, cells)
        elif "model name" in head and len(cells) > 1 and str(cells[1][0]).lower() == "final score":
            scores += _parse_answerer(place, str(_clean(sheet.title)), cells)
        elif head[:1] == ["top-k"]:
            overlaps += _parse_overlaps(place, cells)
        elif head:
            left.append(sheet.title)
    return ScoreFile(path.name, scores, overlaps, left)


def _clean(value: Any) -> Any:
    """A cell's text without spaces about it, hard ones too; an empty one is None."""
    if not isinstance(value, str):
        return value
    return " ".join(value.split()) or None


def _parse_blocks(place: str, cells: _Cells) -> list[Score]:
    """Blocks `Model name, Round 1 … Round n, Total Score`, one for each run."""
    head = [None if value is None else str(value).lower() for value in cells[0]]
    starts = [column for column, name in enumerate(head) if name == "model name"]
    scores: list[Score] = []
    for run, start in enumerate(starts, start=1):
        rounds: list[int] = []
        while (
            start + 1 + len(rounds) < len(head)
            and head[start + 1 + len(rounds)] == f"round {len(rounds) + 1}"
        ):
            rounds.append(start + 1 + len(rounds))
        total = start + 1 + len(rounds)
        has_total = total < len(head) and head[total] == "total score"
        block: list[tuple[str, list[float]]] = []
        for number, row in enumerate(cells[1:], start=2):
            name = row[start] if start < len(row) else None
            if name is None or str(name).lower() == "question average score":
                break
            where = f"{place}, row {number}"
            if str(name) in (before for before, _ in block):
                raise UsageError(
                    f"{where}: {name} stands in the run already. A candidate has one row in each."
                )
            values = [
                _read_number(f"{where}, round {at}", row[column]) for at, column in enumerate(rounds, 1)
            ]
            if has_total and row[total] is not None:
                _check_total(where, values, _read_number(f"{where}, total", row[total]))
            block.append((str(name), values))
        scores += _list_block(place, run, block)
    return scores


def _list_block(place: str, run: int, block: Sequence[tuple[str, Sequence[float]]]) -> Iterator[Score]:
    for at in range(len(block[0][1]) if block else 0):
        askers = [name for name, values in block if values[at] == 0]
        if len(askers) != 1:
            raise UsageError(
                f"{place}, run {run}, round {at + 1}: {len(askers)} candidates hold 0. The asker alone holds 0, because it has "
                "no answer to its own question. Correct the sheet, or give the scores as CSV with the column asker."
            )
        for name, values in block:
            if name != askers[0]:
                yield Score(name, values[at], league_run=run, round=at + 1, asker=askers[0])


def _check_total(where: str, values: Sequence[float], total: float) -> None:
    """The printed total is the mean over the rounds in which the candidate answered."""
    answered = [value for value in values if value != 0]
    mean = sum(answered) / max(len(answered), 1)
    if abs(mean - total) > _SUM_TOLERANCE:
        raise UsageError(
            f"{where}: the total is {total:g}, but the mean of the other rounds is {mean:g}. Correct the sheet, or delete the total."
        )


def _parse_answerer(place: str, answerer: str, cells: _Cells) -> list[Score]:
    """The scores of an answerer's sheet: `model name` with the askers, and `final score`."""
    return [
        Score(answerer, _read_number(f"{place}, column {column + 1}", cells[1][column]), asker=str(asker))
        for column, asker in enumerate(cells[0])
        if column and asker is not None
    ]


def _parse_overlaps(place: str, cells: _Cells) -> list[TopKOverlap]:
    """Rows of runs, columns of k; the row of averages is left out."""
    ks = [(column, value) for column, value in enumerate(cells[0]) if column and value is not None]
    found = []
    for number, row in enumerate(cells[1:], start=2):
        if row[0] is None or str(row[0]).lower() == "average":
            continue
        for column, k in ks:
            where = f"{place}, row {number}, column {column + 1}"
            overlap, size = _read_number(where, row[column]), _read_number(f"{place}, row 1", k)
            if size != int(size) or size < 1 or not 0 <= overlap <= 1:
                raise UsageError(
                    f"{where}: {overlap:g} for k = {k} is no overlap. It lies between 0 and 1, and k is from 1."
                )
            found.append(TopKOverlap(str(row[0]), int(size), overlap))
    return found


def _read_number(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise UsageError(
            f"{where}: {'an empty cell' if value is None else repr(value)} is no score. Write a number."
        )
    return float(value)


def _parse_rows(source: str, frame: pl.DataFrame) -> list[Score]:
    frame = frame.rename({name: name.strip().lstrip("\ufeff").lower() for name in frame.columns})
    unknown = sorted(set(frame.columns) - set(COLUMNS))
    if unknown or "answerer" not in frame.columns or not {"score", "rank"} & set(frame.columns):
        named = (
            f"does not know the columns {', '.join(unknown)}"
            if unknown
            else "lacks answerer, or score and rank"
        )
        raise UsageError(f"{source}: it {named}. The columns are {', '.join(COLUMNS)}.")
    return [
        _parse_row(f"{source}, row {number}", row)
        for number, row in enumerate(frame.iter_rows(named=True), start=1)
    ]


def _parse_row(where: str, row: dict[str, Any]) -> Score:
    values = {name: _clean(value) for name, value in row.items()}
    read: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            read[name] = None
        elif name in _NUMBERS:
            read[name] = _parse_whole(f"{where}, {name}", value)
        elif name == "score":
            read[name] = _parse_score(f"{where}, score", value)
        else:
            read[name] = str(value)
    if read.get("answerer") is None:
        raise UsageError(f"{where}: the answerer is empty. Name whose answer it was.")
    if read.get("judge") is not None and read["judge"] == read["answerer"]:
        raise UsageError(
            f"{where}: {read['judge']} judges itself. Take out what judges gave their own answers."
        )
    if read.get("asker") is not None and read["asker"] == read["answerer"]:
        raise UsageError(f"{where}: {read['asker']} answers its own question. Take out such rows.")
    return Score(**({"score": None} | read))


def _parse_whole(where: str, value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not number.is_integer() or not 1 <= number <= _MOST_NUMBER:
        raise UsageError(f"{where}: {value!r} is no number from 1.")
    return int(number)


def _parse_score(where: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")):
        raise UsageError(
            f"{where}: {value!r} is no number. Leave the cell empty where a judge's output could not be read."
        )
    return number
