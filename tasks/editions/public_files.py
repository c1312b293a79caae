"""The files to recompute an edition from: who sat what, a star and a hash for every answer.

They hold names of lineages and hashes alone (docs/verify.md, "Editions"). Stars are those that the edition rests on; hashes are
the ledger's, with which each session was closed. One session at a time is in memory besides the edition's own rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.editions import ALL_DISCIPLINES
from schemas.lazy import pl
from tasks.exam.public import compute_answers_root, compute_root, digest, encode_line, iter_lines, write_whole
from tasks.exam.public.bank import lineage_name
from warehouse.stores.whole_files import hash_file

if TYPE_CHECKING:
    from tasks.editions.basis import Basis

EDITION: Final = "edition.json"
SESSIONS: Final = "sessions.jsonl"
UNANSWERED: Final = "u"
_SIGNS: Final = {"unanswered": UNANSWERED, "unparsed": "x", "unjudged": "-"}


class CountedQuestion(NamedTuple):
    """A question of a session as counted, with the sign of what it earned."""

    seq: int
    lineage_uuid: str
    sign: str
    has_picture: bool = False


# A row of `basis.sessions` and its questions → SHA-256 of each answer's text by the position of its question.
HashReader = Callable[[Mapping[str, Any], Sequence[CountedQuestion]], Mapping[int, str]]


@dataclass(frozen=True)
class EditionFiles:
    """What the entry of the public log says of an edition's files; `files` is name → SHA-256."""

    answers_root: str
    judgements_root: str
    files: Mapping[str, str]


class _Roots:
    """The leaves of an edition's two trees, gathered session by session."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.judgements: list[bytes] = []

    def add(self, session: str, stars: str, answers: Iterable[str | None]) -> None:
        hashes = {seq: found for seq, found in enumerate(answers, start=1) if found is not None}
        root = bytes.fromhex(compute_answers_root(session, hashes))
        self.answers.append(digest("proctor session answers", session, root))
        self.judgements.append(digest("proctor judgements", session, stars))

    def seal(self, files: Mapping[str, str]) -> EditionFiles:
        return EditionFiles(
            compute_root(self.answers).hex(), compute_root(self.judgements).hex(), dict(files)
        )


def name_edition_folder(public: Path, run_id: str, revision: int) -> Path:
    """Where the files of an edition lie."""
    return public / "editions" / f"{run_id}-{revision}"


def write_edition_files(
    folder: Path,
    secret: bytes,
    head: Mapping[str, Any],
    scores: pl.DataFrame,
    series: pl.DataFrame,
    basis: Basis,
    read_hashes: HashReader,
) -> EditionFiles:
    """Write both files, each whole or not at all; `read_hashes` is asked once for each session."""
    roots = _Roots()
    files = {
        EDITION: write_whole(folder / EDITION, [encode_line(_describe_edition(head, scores, series))]),
        SESSIONS: write_whole(folder / SESSIONS, _write_sessions(basis, secret, read_hashes, roots)),
    }
    return roots.seal(files)


def read_edition_files(folder: Path, edition_id: str, published_at: str) -> EditionFiles | None:
    """What a killed process left; null for files that are not whole, or of another attempt."""
    try:
        (head,) = iter_lines(folder / EDITION)
        if (head["edition"], head["published_at"]) != (edition_id, published_at):
            return None
        roots = _Roots()
        for line in iter_lines(folder / SESSIONS):
            roots.add(line["session"], line["stars"], line["answers"])
        return roots.seal({name: hash_file(folder / name) for name in (EDITION, SESSIONS)})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _describe_edition(
    head: Mapping[str, Any], scores: pl.DataFrame, series: pl.DataFrame | None = None
) -> dict[str, Any]:
    said = {
        "edition": head["edition_id"],
        "run": head["run_id"],
        "revision": head["revision"],
        "month": head["month"],
        "published_at": head["published_at"].isoformat(),
        "reference_model": head["reference_model"],
        "judge": f"{head['judge']}/{head['judge_prompt_version']}",
        "weights": json.loads(head["weights"]),
        "is_simulated": head["is_simulated"],
        "provisional": list(
            head["provisional_because"] or (["uncalibrated"] if head["is_provisional"] else [])
        ),
        "overridden": list(head["overridden_gates"] or ()),
        "override_reason": head["override_reason"],
        "controls": None
        if head["control_count"] is None
        else {
            "count": head["control_count"],
            "wrong": head["control_wrong_count"],
            "gap": head["control_gap"],
        },
        "keys": None
        if head["key_count"] is None
        else {"count": head["key_count"], "disagreements": head["key_disagreement_count"]},
        "scores": _list_scores(scores),
    }
    if head["picture_scope"] is None or series is None:
        return said
    # Of questions with pictures an edition without any says nothing.
    by_series = [
        {"series": name, **row} for (name,), part in _split(series, "series") for row in _list_scores(part)
    ]
    return said | {"picture_scope": head["picture_scope"], "series": by_series}


def _split(frame: pl.DataFrame, column: str) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
    return sorted(frame.partition_by(column, as_dict=True).items(), key=lambda one: str(one[0]))


def _list_scores(scores: pl.DataFrame) -> list[dict[str, Any]]:
    """S and R over all disciplines with their counts, by model and style."""
    whole = scores.filter(scores["discipline"] == ALL_DISCIPLINES).sort("model", "prompt_style")
    return [
        {
            "model": row["model"],
            "style": row["prompt_style"],
            **{name: row[name] for name in ("question_count", "score", "relative_score", "pair_count")},
        }
        for row in whole.iter_rows(named=True)
    ]


def _write_sessions(basis: Basis, secret: bytes, read_hashes: HashReader, roots: _Roots) -> Iterator[str]:
    for row, questions, by_name in _iter_sessions(basis, secret):
        stars = "".join(questions[place].sign for place in by_name)
        pictures = [number for number, place in enumerate(by_name) if questions[place].has_picture]
        answers = _list_answers(row, questions, read_hashes(row, questions))
        roots.add(row["session_id"], stars, answers)
        yield encode_line(
            {
                "session": row["session_id"],
                "sat_in_run": row["sat_in_run_id"],
                "set": row["set_id"],
                "model": row["model"],
                "organisation": row["organisation"],
                "style": row["prompt_style"],
                "repeat": row["repeat"],
                "is_reference": row["is_reference"],
                "is_complete": row["is_complete"],
                "stars": stars,
                "answers": answers,
            }
            | ({"pictures": pictures} if pictures else {})
        )


def _iter_sessions(
    basis: Basis, secret: bytes
) -> Iterator[tuple[dict[str, Any], list[CountedQuestion], Sequence[int]]]:
    """Every session that speaks: its questions by position, and places by lineages' names."""
    answers = _Answers(basis.answers, secret, basis.pictured)
    for row in basis.sessions.sort("session_id").iter_rows(named=True):
        found = answers.read(row["session_id"])
        if found is None:
            count = int(row["question_count"])
            yield row, [CountedQuestion(seq, "", UNANSWERED) for seq in range(1, count + 1)], range(count)
        else:
            yield row, *found


class _Answers:
    """The answers of a month, a session at a time; beside the rows, two numbers for each."""

    def __init__(self, rows: pl.DataFrame, secret: bytes, pictured: Collection[str]) -> None:
        self._rows = rows.select(
            *("seq", "lineage_uuid", "stars", "score_status"),
            has_picture=pl.col("question_uuid").is_in(list(pictured)) if pictured else pl.lit(False),
        )
        lineages, self._lineage = _number(rows["lineage_uuid"])
        names = [lineage_name(secret, lineage) for lineage in lineages]
        by_name = pl.Series(sorted(range(len(names)), key=names.__getitem__), dtype=pl.UInt32)
        del names
        # The place of each lineage by name: the places of its places.
        self._rank = by_name.arg_sort()
        # A number of the session for every answer instead of rows by session: the answers of a month are in memory once.
        sessions, self._session = _number(rows["session_id"])
        self._numbers = {name: number for number, name in enumerate(sessions)}

    def read(self, session: str) -> tuple[list[CountedQuestion], Sequence[int]] | None:
        """Its questions by position, their places by lineages' names; null where nothing landed."""
        if session not in self._numbers:
            return None
        place = (self._session == self._numbers[session]).arg_true()
        rank = self._rank.gather(self._lineage.gather(place)).alias("rank")
        held = self._rows[place].with_columns(rank).sort("seq")
        questions = [
            CountedQuestion(seq, lineage, str(stars) if status == "scored" else _SIGNS[status], has_picture)
            for seq, lineage, stars, status, has_picture, _ in held.iter_rows()
        ]
        return questions, held["rank"].arg_sort().to_list()


def _number(column: pl.Series) -> tuple[list[str], pl.Series]:
    """The different texts of a column, and for every row which of them it has."""
    texts = column.unique().cast(pl.String)
    return texts.to_list(), column.cast(pl.Enum(texts)).to_physical().cast(pl.UInt32)


def _list_answers(
    row: Mapping[str, Any], questions: Iterable[CountedQuestion], hashes: Mapping[int, str]
) -> list[str | None]:
    """The hash of each answer by position, null where there is none."""
    # Of a session that is still open what was judged has been landed; what came since is no part of the edition.
    return [
        hashes.get(question.seq) if row["is_closed"] or question.sign != UNANSWERED else None
        for question in questions
    ]
