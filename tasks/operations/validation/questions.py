"""Every original and variant held to the rules of a question, and the editor's page of it.

The page has each broken rule and where it is broken, with what the rule says, what to do and an example
(`schemas/data/question_rules.yaml`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from tasks.questions import QuestionContent
from tasks.questions.rules import find_broken_rules
from tasks.questions.variants import find_doubts
from tasks.texts import read_texts
from warehouse.lake import Lake

PAGE_NAME = "questions.html"
# Of a rule that many break, so many places are shown; all are counted.
PLACES_SHOWN = 200
_EXCERPT = 160
# (Chinese, English) for everything that the page says by itself.
LABELS: Final[dict[str, list[str]]] = read_texts("tasks.operations.validation", "questions.yaml")
KINDS = {
    "original": ("原题", "original"),
    "variant": ("变体", "variant"),
    "refused": ("已隔离", "refused"),
}


@dataclass(frozen=True)
class BrokenPlace:
    """Where a rule is broken.

    Attributes:
        kind: `original`, `variant`, or `refused` (it stands in the quarantine).
        source: the paper, the method and generator, or the unit.
        position: place in the paper; null for others.
        question_uuid: the question; null for a reply that was none.
        discipline: null where unknown.
        excerpt: the beginning of its text.
    """

    kind: str
    source: str
    position: int | None
    question_uuid: str | None
    discipline: str | None
    excerpt: str = field(repr=False)


@dataclass
class QuestionCheck:
    """What was checked and found.

    Attributes:
        originals: questions of papers that were checked.
        variants: variants that were checked.
        counts: rule → places where it is broken, most first.
        places: rule → the first of these places.
    """

    originals: int = 0
    variants: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[BrokenPlace]] = field(default_factory=dict)

    def add(self, rule: str, place: BrokenPlace) -> None:
        """Count a place where a rule is broken, and keep it if it is among the first."""
        self.counts[rule] += 1
        shown = self.places.setdefault(rule, [])
        if len(shown) < PLACES_SHOWN:
            shown.append(place)


@dataclass(frozen=True)
class RuleNote:
    """One rule in words.

    Attributes:
        name: as quarantine names it.
        about: `question` (of any question), or `variant` (between what a model wrote and what it was made from).
        refuses: whether what breaks it is refused; else it is a doubt for an editor.
        texts: (Chinese, English) what must hold.
        advice: (Chinese, English) what to do.
        example: what breaks it.
    """

    name: str
    about: str
    refuses: bool
    texts: tuple[str, str]
    advice: tuple[str, str]
    example: Mapping[str, Any]


def check_questions(
    lake: Lake, folder: Path, *, advance: Callable[[int], None] = lambda _: None
) -> tuple[QuestionCheck, Path]:
    """Hold originals, variants and what augmentation refused to all rules and doubts.

    It also writes the editor's page. The page stands in `folder` and holds questions with their answers: it
    is readable by its owner alone.
    """
    check = QuestionCheck()
    for row in lake.read("questions_to_check").iter_rows(named=True):
        place = _place(row, "original", row["document_name"])
        _check_row(check, row, place)
        check.originals += 1
        advance(1)
    for row in lake.read("variants_to_check").iter_rows(named=True):
        _check_row(check, row, _place(row, "variant", f"{row['method']}, {row['generator']}"))
        check.variants += 1
        advance(1)
    for rule, place in _list_refused(lake):
        check.add(rule, place)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / PAGE_NAME
    page.touch(mode=0o600)
    page.write_text(render_editor_page(check), encoding="utf-8")
    return check, page


def _check_row(check: QuestionCheck, row: Mapping[str, Any], place: BrokenPlace) -> None:
    content = QuestionContent.from_row(row)
    for rule in (*find_broken_rules(content), *find_doubts(content)):
        check.add(rule, place)


def _place(row: Mapping[str, Any], kind: str, source: str) -> BrokenPlace:
    return BrokenPlace(
        kind,
        source,
        row.get("position"),
        row.get("question_uuid"),
        row.get("discipline"),
        _shorten(str(row.get("stem") or row.get("reply") or "")),
    )


def _list_refused(lake: Lake) -> Iterator[tuple[str, BrokenPlace]]:
    for rule, unit, _, text in lake.read("refused_by_augment").iter_rows():
        row = json.loads(text)
        yield (
            rule,
            _place(
                row | {"question_uuid": row.get("question_uuid") or row.get("parent_uuid")}, "refused", unit
            ),
        )


def _shorten(text: str) -> str:
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def render_editor_page(check: QuestionCheck) -> str:
    """The page as HTML, self-contained, without scripts; what others wrote is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tasks.operations.validation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    notes = read_rule_notes()
    rules = [
        {
            "name": name,
            "count": count,
            "note": notes.get(name),
            "places": check.places[name],
            "more": count - len(check.places[name]),
        }
        for name, count in sorted(check.counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return environment.get_template("questions.html.j2").render(
        labels=LABELS, kinds=KINDS, rules=rules, check=check
    )


@lru_cache(maxsize=1)
def read_rule_notes() -> Mapping[str, RuleNote]:
    """Every rule by name, in the order of the file."""
    import yaml

    text = resources.files("schemas").joinpath("data/question_rules.yaml").read_text(encoding="utf-8")
    return {
        entry["rule"]: RuleNote(
            entry["rule"],
            entry["about"],
            entry["refuses"],
            (entry["zh"], entry["en"]),
            (entry["zh_do"], entry["do"]),
            entry["example"],
        )
        for entry in yaml.load(text, Loader=yaml.CSafeLoader)
    }
