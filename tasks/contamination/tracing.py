"""Whose leak a text is: the questions that it holds, who met them, and its likely source.

Nothing that comes back holds a text: questions are named by their UUIDs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from schemas.errors import UsageError
from tasks.contamination.leaked_texts import EXACT, NEAR, REWORDED, Match, find_questions, split_text
from tasks.statistics.leaks import ACCUSED, PRIOR_NOBODY, PRIOR_SIZES, Suspicion, trace_leak

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tasks.statistics import Floats
    from warehouse.lake import Lake

# Found by a picture that it shows.
PICTURE: Final = "picture"
# The chance that a piece found so is not what its source was put: matched wrongly, or added from somewhere else.
NOISE: Final = {EXACT: 0.02, NEAR: 0.05, REWORDED: 0.3, PICTURE: 0.05}
ASSUMPTIONS: Final = (
    f"Before the text was read: none of them {PRIOR_NOBODY:.1%}; one organisation {PRIOR_SIZES[0]:.1%}, two {PRIOR_SIZES[1]:.1%}, "
    f"three {PRIOR_SIZES[2]:.1%}, shared equally over all coalitions of the size.",
    "A source gives out questions at random from what it met, the members of a coalition equally often; larger coalitions are not looked at.",
    "A question that is not from the source: "
    + ", ".join(f"{share:.0%} of {method} matches" for method, share in NOISE.items())
    + ".",
    "A set counts as met from the planning of a session with it. Organisations that sat the same sets cannot be told apart.",
    "Sets were drawn without regard to what leaks. A text of questions chosen because an organisation met them proves nothing.",
)


def trace_text(
    lake: Lake, text: str, *, pictures: Sequence[Sequence[str]] = (), is_simulated: bool = False
) -> dict[str, Any]:
    """What is found in a text, and in pictures that leaked with it, and who it points to.

    Each of `pictures` is a piece as well: the pictures of the bank, by hash, that show the same. Gives back `piece_count`, `unmatched` (places of pieces, from 1), `matches` (a row per lineage, with `met_by`), `nobody`,
    `organisations` and `coalitions` with their probabilities, `accused` (those of at least 99%) and `assumptions`.
    Raises UsageError for a text without letters or a lake without a bank.
    """
    pieces = split_text(text)
    if not pieces and not pictures:
        raise UsageError(
            "There is nothing to trace. Give the leaked text, a file that holds it, or --picture FILE."
        )
    bank = lake.read("trace_questions")
    if bank.is_empty():
        raise UsageError("The bank has no questions. Publish a bank version first (`proctor dedupe`).")
    matches = find_questions(pieces, bank)
    piece_count = len(pieces) + len(pictures)
    matches += _match_pictures(lake, pictures, len(pieces), {match.lineage_uuid for match in matches})
    lineages = [match.lineage_uuid for match in matches]
    meetings = lake.read("trace_meetings", {"lineage_uuids": lineages, "is_simulated": is_simulated})
    holdings = lake.read("trace_holdings", {"is_simulated": is_simulated})
    found = {match.piece for match in matches}
    return {
        "piece_count": piece_count,
        "unmatched": [place for place in range(1, piece_count + 1) if place - 1 not in found],
        "matches": _list_matches(matches, meetings),
        **_suspect(matches, meetings, holdings, bank),
        "assumptions": list(ASSUMPTIONS),
    }


def _match_pictures(
    lake: Lake, pictures: Sequence[Sequence[str]], first: int, known: set[str]
) -> list[Match]:
    """The lineages that alone show one of the pictures; known ones are left as they are."""
    matches: list[Match] = []
    shown = lake.read("trace_pictures", {"sha256s": [one for alike in pictures for one in alike]})
    for place, alike in enumerate(pictures, start=first):
        own = shown.filter(shown["sha256"].is_in(list(alike)))
        lineages, questions = own["lineage_uuid"].unique().to_list(), own["question_uuid"].unique().to_list()
        if len(lineages) == 1 and lineages[0] not in known:
            known.add(lineages[0])
            question = questions[0] if len(questions) == 1 else None
            matches.append(Match(place, lineages[0], question, PICTURE, 1.0))
    return matches


def describe_trace(report: dict[str, Any]) -> list[str]:
    """The lines of a report: questions, who met them, and the probabilities."""
    lines = [
        f"{len(report['matches'])} lineages of the bank in {report['piece_count']} pieces; {len(report['unmatched'])} pieces without one."
    ]
    for match in report["matches"]:
        met = ", ".join(
            f"{row['organisation']} ({row['first_month']}{'' if row['is_same_variant'] else ', another variant'})"
            for row in match["met_by"]
        )
        name = match["question_uuid"] or f"a variant of lineage {match['lineage_uuid']}"
        lines.append(
            f"  piece {match['piece']}: {name}, {match['method']} {match['share']:.2f}; met by {met or 'nobody'}"
        )
    lines.append(f"Nobody of them: {report['nobody']:.4f}")
    for row in report["organisations"]:
        alike = f"; cannot be told from {', '.join(row['alike'])}" if row["alike"] else ""
        lines.append(
            f"{row['organisation']}: {row['probability']:.4f}, had met {row['met_count']} of them{alike}"
        )
    lines += [
        f"{' with '.join(row['organisations'])}, nobody else: {row['probability']:.4f}"
        for row in report["coalitions"]
        if row["probability"] >= 0.001
    ]
    lines.append(
        f"Accused (at least {ACCUSED:.0%}): {', '.join(report['accused'])}."
        if report["accused"]
        else f"Nobody reaches {ACCUSED:.0%}: nobody is accused."
    )
    return [*lines, "Assumptions:", *(f"  {line}" for line in report["assumptions"])]


def _list_matches(matches: Sequence[Match], meetings: pl.DataFrame) -> list[dict[str, Any]]:
    met: dict[str, list[dict[str, Any]]] = {}
    for row in meetings.iter_rows(named=True):
        met.setdefault(row["lineage_uuid"], []).append(row)
    return [
        {
            "piece": match.piece + 1,
            "lineage_uuid": match.lineage_uuid,
            "question_uuid": match.question_uuid,
            "method": match.method,
            "share": match.share,
            "met_by": [
                {
                    **{
                        name: row[name]
                        for name in (
                            "organisation",
                            "question_uuid",
                            "session_count",
                            "first_month",
                            "last_month",
                        )
                    },
                    "first_opened_at": None
                    if row["first_opened_at"] is None
                    else str(row["first_opened_at"]),
                    "is_same_variant": match.question_uuid in (None, row["question_uuid"]),
                }
                for row in met.get(match.lineage_uuid, [])
            ],
        }
        for match in matches
    ]


def _suspect(
    matches: Sequence[Match], meetings: pl.DataFrame, holdings: pl.DataFrame, bank: pl.DataFrame
) -> dict[str, Any]:
    names = sorted(set(holdings["organisation"].to_list()))
    place = {name: number for number, name in enumerate(names)}
    by_lineage = {match.lineage_uuid: number for number, match in enumerate(matches)}
    held = np.zeros((len(names), len(matches)), dtype=np.bool_)
    for organisation, lineage, question in meetings.select(
        "organisation", "lineage_uuid", "question_uuid"
    ).iter_rows():
        number = by_lineage[lineage]
        if matches[number].question_uuid in (None, question):
            held[place[organisation], number] = True
    sizes = np.zeros(len(names))
    for organisation, count in holdings.select("organisation", "met_count").iter_rows():
        sizes[place[organisation]] += count
    noise = np.array([NOISE[match.method] for match in matches])
    if names:
        suspicion = trace_leak(
            held,
            sizes,
            _compute_background(matches, holdings, bank, dict(zip(names, sizes.tolist(), strict=True))),
            noise,
        )
    else:
        suspicion = Suspicion(1.0, np.zeros(0), [], 0)
    order = sorted(range(len(names)), key=lambda number: (-suspicion.members[number], names[number]))
    rows = [
        {
            "organisation": names[number],
            "probability": float(suspicion.members[number]),
            "met_count": int(held[number].sum()),
            "holding_count": int(sizes[number]),
            "alike": _list_alike(names, held, number),
        }
        for number in order
    ]
    return {
        "nobody": suspicion.nobody,
        "organisations": rows,
        "coalitions": [
            {"organisations": [names[number] for number in members], "probability": probability}
            for members, probability in suspicion.coalitions
        ],
        "left_out_of_three": suspicion.left_out,
        "accused": [row["organisation"] for row in rows if row["probability"] >= ACCUSED],
    }


def _list_alike(names: Sequence[str], held: NDArray[np.bool_], number: int) -> list[str]:
    """The others that had met exactly the same of these questions; empty where it met none."""
    if not held[number].any():
        return []
    same = np.flatnonzero((held == held[number]).all(axis=1)).tolist()
    return [names[other] for other in same if other != number]


def _compute_background(
    matches: Sequence[Match], holdings: pl.DataFrame, bank: pl.DataFrame, sizes: dict[str, float]
) -> Floats:
    """The chance of each question where the leak came from no organisation.

    Before the draw, no organisation is then likelier than another to have been put the question. The largest
    share of the question's discipline in what any organisation met, over the lineages of the discipline. A
    variant counts as its lineage: how many others there were when it was drawn is not known.
    """
    shares: dict[str, float] = {}
    for organisation, discipline, met, least in holdings.iter_rows():
        share = met / sizes[organisation] / max(least, 1)
        shares[discipline] = max(shares.get(discipline, 0.0), share)
    wanted = [match.lineage_uuid for match in matches]
    some = bank.filter(bank["lineage_uuid"].is_in(wanted))
    disciplines = dict(some.select("lineage_uuid", "discipline").iter_rows())
    everywhere = 1.0 / max(1, bank["lineage_uuid"].n_unique())
    return np.array(
        [max(shares.get(disciplines[match.lineage_uuid] or "", 0.0), everywhere) for match in matches]
    )
