"""An edition for others: leaderboard, citation, and who takes it away, which is logged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.trust.users import check_may_take

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger

FORM: Final = "proctor-leaderboard/1"
_SCORES: Final = (
    "model",
    "organisation",
    "is_reference",
    "rank",
    "rank_low",
    "rank_high",
    "rank_group",
    "score",
    "score_se",
    "score_low",
    "score_high",
    "score_sd",
    "relative_score",
    "relative_low",
    "relative_high",
    "equated_score",
    "repeat_count",
    "question_count",
    "unparsed_count",
    "pair_count",
)
_EDITION: Final = (
    "edition_id",
    "run_id",
    "month",
    "revision",
    "replaces",
    "reason",
    "bank_version",
    "set_size",
    "reference_model",
    "judge",
    "judge_prompt_version",
    "mean_kappa",
    "is_provisional",
    "is_simulated",
    "grade",
    "overridden_gates",
    "override_reason",
    "code_version",
    "root_hash",
)
ROLES: Final = ("admin", "examiner")
ACTION: Final = "export_edition"


def render_leaderboard(lake: Lake, edition: Mapping[str, Any]) -> dict[str, Any]:
    """An edition's frozen scores as JSON by style, as docs/leaderboard.schema.json says."""
    scores = lake.read("published_scores", {"edition_id": edition["edition_id"], "month": edition["month"]})
    styles: dict[str, list[dict[str, Any]]] = {}
    disciplines: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in scores.iter_rows(named=True):
        key = (row["prompt_style"], row["model"])
        if row["discipline"] == "all":
            styles.setdefault(row["prompt_style"], []).append({name: row[name] for name in _SCORES})
        else:
            disciplines.setdefault(key, {})[row["discipline"]] = row["score"]
    for style, rows in styles.items():
        for row in rows:
            row["disciplines"] = disciplines.get((style, row["model"]), {})
    return {
        "form": FORM,
        "edition": {
            **{name: edition[name] for name in _EDITION},
            "planned_at": edition["planned_at"].isoformat(),
            "published_at": edition["published_at"].isoformat(),
            "weights": json.loads(edition["weights"]),
        },
        "styles": styles,
    }


def render_citation(edition: Mapping[str, Any], *, title: str, publisher: str) -> dict[str, str]:
    """An edition as cited: `cff` (Citation File Format 1.2.0), `bibtex`, or one plain sentence."""
    day = edition["published_at"].date()
    name = f"{title}, edition {edition['edition_id']}"
    what = (
        f"bank version {edition['bank_version']}, {edition['candidate_count']} candidates, sets of {edition['set_size']} questions, "
        f"judge {edition['judge']} (prompt {edition['judge_prompt_version']}), reference {edition['reference_model']}"
    )
    kinds = [
        *(["simulated candidates"] if edition["is_simulated"] else []),
        *([_describe_provisional(edition)] if edition["is_provisional"] else []),
        *([f"gates shut: {', '.join(edition['overridden_gates'])}"] if edition["overridden_gates"] else []),
        *([f"corrects {edition['replaces']}"] if edition["replaces"] else []),
        edition["grade"],
    ]
    about = "; ".join([what, *kinds])
    root = edition["root_hash"]
    key = "proctor-" + "".join(letter if letter.isalnum() else "-" for letter in edition["edition_id"])
    cff = "\n".join(
        [
            "cff-version: 1.2.0",
            "type: dataset",
            "message: Please cite the edition, not the leaderboard of the day.",
            f"title: {json.dumps(name, ensure_ascii=False)}",
            f"version: {json.dumps(edition['edition_id'], ensure_ascii=False)}",
            f"date-released: {day.isoformat()}",
            f"abstract: {json.dumps(about, ensure_ascii=False)}",
            "authors:",
            f"  - name: {json.dumps(publisher, ensure_ascii=False)}",
            "identifiers:",
            "  - type: other",
            f"    value: {json.dumps('sha256:' + root)}",
            "    description: SHA-256 over the basis and every frozen row of the edition",
            "",
        ]
    )
    bibtex = "\n".join(
        [
            f"@misc{{{key},",
            f"  title = {{{_escape_tex(name)}}},",
            f"  author = {{{{{_escape_tex(publisher)}}}}},",
            f"  year = {{{day.year}}},",
            f"  month = {{{day.month}}},",
            f"  note = {{{_escape_tex(about)}; sha256:{root}}}",
            "}",
            "",
        ]
    )
    return {
        "cff": cff,
        "bibtex": bibtex,
        "text": f"{publisher}: {name}, {day.isoformat()} ({about}). sha256:{root}",
    }


def _escape_tex(text: str) -> str:
    """A text whose characters BibTeX and TeX take for nothing else."""
    escaped = {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "$": r"\$",
    }
    return "".join(escaped.get(letter, letter) for letter in text)


def _describe_provisional(edition: Mapping[str, Any]) -> str:
    words = {
        "uncalibrated": "the judge was not calibrated",
        "agreement": "the judge's agreement with people may be below the bar",
        "ratings": "the judge was compared with people on too few responses",
    }
    return (
        f"provisional: {', '.join(words[one] for one in edition['provisional_because'] or ('uncalibrated',))}"
    )


def note_export(ledger: Ledger, user_id: str, edition_id: str, *, with_answers: bool) -> None:
    """Note that a named user takes an edition's questions away; UsageError where none may."""
    with ledger.write() as connection:
        check_may_take(connection, user_id, "questions", ROLES)
        code = "with_answers" if with_answers else None
        add_entry(connection, Entry(ACTION, user_id=user_id, target=edition_id, code=code))
