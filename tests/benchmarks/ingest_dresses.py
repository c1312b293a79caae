"""Made-up papers in dresses drawn at random, and how many of their questions are read right.

What a paper prints (headings, numbers, options, keys, the place of the answers, its language) is drawn piece by piece from
`ingest_dresses.yaml`, so that nearly every paper is a layout that nobody has met. Which pieces cost most is what
`python -m tests.benchmarks.ingest_dresses` says; a piece is no layout to be learned by heart.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tests.benchmarks.ingest_lines import Line
from tests.benchmarks.ingest_mutations import read_lines

LANGUAGES = (*("zh",) * 9, *("en",) * 9, "de", "fr", "es", "ru", "ja")
KINDS = ("single", "several", "truth", "blank", "term", "short", "count", "essay")
# What each kind may rightly be called.
ACCEPTED = {
    "single": ("multiple_choice",),
    "several": ("multiple_choice",),
    "truth": ("true_false",),
    "blank": ("fill_in_the_blank",),
    "term": ("term_explanation",),
    "short": ("short_answer",),
    "count": ("calculation",),
    "essay": ("essay",),
}
FREE = ("term", "short", "count", "essay")
# Where no heading and no tag names a type, free questions differ by nothing that is printed.
UNNAMED = ("short_answer", "essay", "calculation", "term_explanation")
# Where the answers stand: nowhere, in the brackets of stems, behind each question, before its number, as a sign at an option, at the
# end of sections, at the end of the paper, there as tables.
PLACES = (
    *("none", "none", "bracket", "bracket", "behind", "behind", "behind", "behind", "before", "sign"),
    *("section", "section", "end", "end", "end", "end", "end", "table"),
)
# From this seed on options are numbered instead of lettered, and keys name their numbers.
COUNTED = 100_000
COUNTED_FORMS = ("({d}) ", "（{d}）", "{d}) ", "{o}", "{o} ")
CIRCLES = "①②③④⑤"
CHINESE = "一二三四五六七八九十"
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")
WORDS = ("One", "Two", "Three", "Four", "Five", "Six")


@dataclass
class Asked:
    """A question as it was made: what it asks and offers, its answer as the bank keeps it."""

    kind: str
    stem: str
    options: list[str] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    why: str = ""
    number: int = 0
    place: str = ""


@dataclass
class DressedPaper:
    """A paper, what it asks, and each piece of its dress by name."""

    lines: list[Line]
    questions: list[Asked]
    dress: dict[str, str]


@lru_cache(maxsize=1)
def read_words() -> dict[str, dict[str, Any]]:
    """What papers print, by language."""
    source = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(source)
    return found


def make_dressed(seed: int) -> DressedPaper:
    """The paper of a seed: always the same one."""
    return _Maker(random.Random(f"dress {seed}"), is_counted=seed >= COUNTED).make()


class _Maker:
    """One paper being made."""

    def __init__(self, draw: random.Random, *, is_counted: bool = False) -> None:
        self.draw = draw
        self.is_counted = is_counted
        self.dress: dict[str, str] = {}
        language = self.pick("language", LANGUAGES)
        self.words = read_words()[language]
        self.lines: list[Line] = []
        self.tables = 0

    def pick(self, name: str, values: Sequence[Any]) -> Any:
        """Draw one of the values; the dress keeps it under a name."""
        value = self.draw.choice(values)
        self.dress[name] = str(value)
        return value

    def write(self, text: str, **more: Any) -> None:
        """Print a text; ¶ is where a line ends."""
        self.lines += [Line(part.rstrip(), **more) for part in text.split("¶") if part.strip()]

    def make(self) -> DressedPaper:
        words, draw = self.words, self.draw
        self.choose()
        groups = self.make_sections()
        self.write(draw.choice(words["titles"]).format(a=self.noun()))
        if self.pick("furniture", (True, True, False)):
            for line in draw.sample(words["furniture"], min(len(words["furniture"]), draw.randint(1, 3))):
                self.write(line.format(a=self.noun()))
        number = 0
        for place, group in enumerate(groups):
            if self.dress["sections"] != "none":
                self.write(self.heading(place, group))
                below = words.get("below", {}).get(group[0].kind)
                if below and self.dress["below"] == "True":
                    self.write(draw.choice(below))
            number = 0 if self.dress["runs_on"] == "False" else number
            for asked in group:
                number += 1
                asked.number = number
                self.print_question(asked)
            if self.dress["answers"] == "section":
                self.write(draw.choice(words["ends"]))
                self.print_keys(group)
        if self.dress["answers"] in ("end", "table"):
            self.write(self.pick("end", words["ends"]))
            for place, group in enumerate(groups):
                if self.dress["sections"] != "none":
                    self.print_key_heading(place, group)
                self.print_keys(group)
        return DressedPaper(self.lines, [one for group in groups for one in group], self.dress)

    def choose(self) -> None:
        """Draw what the whole paper keeps to."""
        words = self.words
        answers = self.pick("answers", PLACES)
        self.number_form = self.pick("number", words["numbers"])
        self.option_form = self.pick("option", words["options"])
        self.pick("option_rows", ("stacked", "stacked", "inline", "columns"))
        self.section_form = self.pick("sections", [*words["sections"], "none"])
        self.pick("below", (True, False))
        is_open = self.dress["sections"] == "none" or answers not in ("end", "table", "section")
        self.pick("runs_on", (True, False) if self.dress["sections"] != "none" else (True,))
        self.place_form = self.pick(
            "place", words["places"] if answers != "bracket" else [" (#)", "（#）", "(#)", "（ # ）"]
        )
        self.truths = self.pick("truths", words["truths"])
        self.mark = self.pick("behind", words["behind"])
        self.free_mark = self.pick("free_behind", words["free_behind"])
        self.why_mark = self.pick("why", [*words["why"], "", ""])
        self.tag_form = (
            self.pick("tags", [*words["tag_forms"], "", "", ""]) if is_open and "tags" in words else ""
        )
        self.sign_form = self.pick("sign", ("*{o}", "{o} ✓", "{o} *", "{o} (correct)", "bold", "√{o}"))
        self.key_form = self.pick(
            "keys", ("range", "row", "lines", "run", "explained", "said", "echo", "marked")
        )
        self.key_number = self.pick(
            "key_number", ("{n}. ", "{n}.", "{n}、", "{n}) ", "({n}) ", "{n} ", "{n}: ", "same")
        )
        self.join = self.pick("join", words["joins"])
        if self.is_counted:
            self.option_form = self.pick("option", COUNTED_FORMS)

    def noun(self) -> str:
        return str(self.draw.choice(self.words["nouns"]))

    def fill(self, form: str) -> str:
        one, two = self.draw.sample(self.words["nouns"], 2)
        text = form.format(a=one, b=two, x=self.draw.randint(12, 90), y=self.draw.randint(2, 9), _="{_}")
        return text[0].upper() + text[1:]

    def make_sections(self) -> list[list[Asked]]:
        """The questions: one to five sections of a kind each, or one part with several kinds."""
        kinds = [kind for kind in KINDS if kind in self.words["types"]]
        count = self.draw.randint(1, min(5, len(kinds)))
        chosen = sorted(self.draw.sample(kinds, count), key=KINDS.index)
        if self.dress["answers"] in ("sign", "before", "bracket"):
            marked = (
                ("single", "several") if self.dress["answers"] == "sign" else ("single", "several", "truth")
            )
            chosen = [kind for kind in chosen if kind in marked] or ["single"]
        groups = []
        known: set[str] = set()
        for kind in chosen:
            size = self.draw.randint(2, 5) if kind in FREE else self.draw.randint(4, 12)
            size = 1 if kind == "essay" else size
            group: list[Asked] = []
            while len(group) < size:
                asked = self.make_question(kind)
                if asked.stem not in known:
                    known.add(asked.stem)
                    group.append(asked)
            groups.append(group)
        self.dress["kinds"] = "+".join(chosen)
        return groups

    def make_question(self, kind: str) -> Asked:
        words, draw = self.words, self.draw
        stems = words["stems"]["choice" if kind in ("single", "several") else kind]
        asked = Asked(kind, self.fill(draw.choice(stems)), why=self.fill(draw.choice(words["reasons"])))
        if kind in ("single", "several"):
            count = draw.choice((4, 4, 4, 4, 3, 5))
            while len(asked.options) < count:
                text = self.fill(draw.choice(words["texts"]))
                text = text[0].lower() + text[1:] if draw.random() < 0.5 else text
                if text.casefold() not in (one.casefold() for one in asked.options):
                    asked.options.append(text)
            letters = "ABCDE"[:count]
            chosen = draw.sample(letters, 1 if kind == "single" else draw.randint(2, 3))
            asked.answer = sorted(chosen)
        elif kind == "truth":
            asked.answer = [draw.choice(("true", "false"))]
        elif kind == "blank":
            asked.answer = draw.sample(words["fillings"], asked.stem.count("____"))
        else:
            asked.answer = [self.fill(draw.choice(words["reasons"]))]
        return asked

    def heading(self, place: int, group: Sequence[Asked], form: str | None = None) -> str:
        words, points = self.words, self.draw.choice((1, 2, 5))
        marks = self.draw.choice(words["announced"]) if form is None else ""
        self.names = getattr(self, "names", {})
        kind = group[0].kind
        title = self.names.setdefault(kind, self.draw.choice(words["types"][kind]))
        text = (form or self.section_form).format(
            c=CHINESE[place],
            n=place + 1,
            r=ROMAN[place],
            l="ABCDEFGH"[place],
            w=WORDS[place],
            t=title,
            m=marks.format(n=len(group), p=points, s=points * len(group)),
        )
        return text.rstrip(" :：")

    def print_key(self, asked: Asked) -> str:
        """The answer as the paper prints it."""
        if asked.kind == "truth":
            return str(self.truths[asked.answer == ["false"]])
        if self.is_counted and asked.kind in ("single", "several"):
            places = ["ABCDE".index(letter) for letter in asked.answer]
            if "{o}" in self.option_form:
                return "".join(CIRCLES[place] for place in places)
            return ",".join(str(place + 1) for place in places)
        if asked.kind in ("single", "several"):
            small = "{s}" in self.option_form and asked.kind == "single"
            return "".join(asked.answer).lower() if small else "".join(asked.answer)
        return str(self.join).join(asked.answer)

    def print_question(self, asked: Asked) -> None:
        answers = self.dress["answers"]
        key = self.print_key(asked)
        is_keyed = asked.kind in ("single", "several", "truth")
        place = self.place_form
        stem = asked.stem
        if asked.kind == "truth" or (answers == "bracket" and "{_}" not in stem):
            stem += "{_}" if answers == "bracket" or self.dress["language"] in ("zh", "ja") else ""
        stem = stem.replace("{_}", place.replace("#", key) if is_keyed else "").replace("  ", " ")
        asked.stem = asked.stem.replace("{_}", "")
        tag = self.words.get("tags", {}).get(asked.kind)
        if self.tag_form and tag:
            stem = self.tag_form.format(t=tag[0], q=stem)
        number = self.number_form.format(n=asked.number)
        if answers == "before":
            number = (
                f"({key}) {number}"
                if self.dress["key_number"] in ("{n}. ", "({n}) ", "{n}、", "same")
                else f"{key} {number}"
            )
        self.write(number + stem)
        self.print_options(asked)
        if answers == "behind":
            mark = self.free_mark if asked.kind in FREE else self.mark
            self.write(mark.format(k=key))
            if self.why_mark and asked.kind not in FREE:
                self.write(self.why_mark.format(e=asked.why))

    def label(self, place: int) -> str:
        return str(self.option_form.format(l="ABCDE"[place], s="abcde"[place], d=place + 1, o=CIRCLES[place]))

    def print_options(self, asked: Asked) -> None:
        if not asked.options:
            return
        texts = [self.label(place) + text for place, text in enumerate(asked.options)]
        chosen = ["ABCDE".index(letter) for letter in asked.answer]
        emphasis: dict[int, tuple[tuple[int, int, str], ...]] = {}
        if self.dress["answers"] == "sign":
            for place in chosen:
                if self.sign_form == "bold":
                    emphasis[place] = ((0, len(texts[place]), "bold"),)
                else:
                    texts[place] = self.sign_form.format(o=texts[place])
        rows = self.dress["option_rows"] if not emphasis else "stacked"
        if rows == "stacked":
            for place, text in enumerate(texts):
                self.lines.append(Line(text, emphasis=emphasis.get(place, ())))
        elif rows == "inline":
            self.write("    ".join(texts))
        else:
            for first in range(0, len(texts), 2):
                self.write("\t".join(texts[first : first + 2]))

    def print_key_heading(self, place: int, group: Sequence[Asked]) -> None:
        forms: list[str | None] = [self.section_form, self.section_form, "{t}"]
        if self.section_form.startswith(("{c}、", "（{c}）", "{c}. ", "{c}．")):
            forms.append("{c}、")
        form = self.draw.choice(forms)
        self.write(self.heading(place, group, (form or "").replace("{m}", "")))

    def print_keys(self, group: Sequence[Asked]) -> None:
        """The answers of a section, away from its questions."""
        kind = group[0].kind
        form = self.key_form
        keys = [self.print_key(one) for one in group]
        if kind in FREE or kind == "blank":
            for one, key in zip(group, keys, strict=True):
                mark = self.free_mark.format(k=key) if form == "marked" and kind in FREE else key
                self.write(
                    f"{self.numbered(one)}{one.stem}¶{mark}"
                    if form == "echo" and kind in FREE
                    else self.numbered(one) + mark
                )
            return
        if self.dress["answers"] == "table":
            self.print_key_table(group, keys)
        elif form == "range" and len({len(key) for key in keys}) == 1:
            gap, joint = (
                self.draw.choice((("-", " "), ("—", "："), ("~", ". "), ("-", ": "), ("－", "．"))),
                self.draw.choice(("", "", " ")),
            )
            for first in range(0, len(group), 5):
                part = group[first : first + 5]
                run = (joint if len(keys[0]) == 1 else " ").join(keys[first : first + 5])
                self.write(f"{part[0].number}{gap[0]}{part[-1].number}{gap[1]}{run}")
        elif form == "run" and len({len(key) for key in keys}) == 1:
            self.write(self.draw.choice(("", " ") if len(keys[0]) == 1 else (" ", "  ")).join(keys))
        elif form in ("row", "range", "run"):
            for first in range(0, len(group), 5):
                pairs = zip(group[first : first + 5], keys[first : first + 5], strict=True)
                self.write(
                    self.dress.get("row_gap", "   ").join(self.numbered(one) + key for one, key in pairs)
                )
        else:
            for one, key in zip(group, keys, strict=True):
                said = f"{self.numbered(one)}{key}"
                if form == "echo" and one.options and len(one.answer) == 1:
                    said += f". {one.options['ABCDE'.index(one.answer[0])]}"
                if form == "said":
                    said = self.numbered(one) + self.mark.format(k=key)
                self.write(said)
                if form in ("explained", "said") and self.why_mark:
                    self.write(self.why_mark.format(e=one.why))

    def numbered(self, asked: Asked) -> str:
        form = self.number_form.replace("¶", " ") if self.key_number == "same" else self.key_number
        return str(form.format(n=asked.number))

    def print_key_table(self, group: Sequence[Asked], keys: Sequence[str]) -> None:
        numbers = [str(one.number) for one in group]
        one, two = self.words["cells"]
        if self.pick("table", ("wide", "long")) == "wide":
            rows = [[one, *numbers], [two, *keys]]
        else:
            rows = [[one, two], *map(list, zip(numbers, keys, strict=True))]
        self.tables += 1
        for row in rows:
            self.lines.append(Line(" | ".join(row), kind="table", cells=tuple(row), table=self.tables))


@dataclass
class Seen:
    """What became of one paper.

    For each question the parts that are wrong; `stem` where it was not found.
    """

    seed: int
    dress: dict[str, str]
    wrong: list[tuple[Asked, list[str], dict[str, Any] | None]]
    count: int
    sure: int
    sure_wrong: int

    @property
    def right(self) -> int:
        """How many questions were read fully right."""
        return sum(1 for _, parts, _ in self.wrong if not parts)


def read_dressed(paper: DressedPaper) -> dict[str, Any]:
    """What would be landed of a paper."""
    return read_lines(paper.lines)


def fold(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(character for character in text if character.isalnum()).casefold()


def judge(seed: int) -> Seen:
    """Make a paper, read it, and compare the two."""
    paper = make_dressed(seed)
    result = read_dressed(paper)
    landed = result["questions"]
    is_named = paper.dress["sections"] != "none" or paper.dress.get("tags", "") != ""
    wrong = []
    matched: set[int] = set()
    for asked in paper.questions:
        found = next(
            (one for one in landed if fold(one["stem"]) == fold(asked.stem) and id(one) not in matched), None
        )
        parts: list[str] = []
        if found is None:
            parts = ["stem"]
        else:
            matched.add(id(found))
            parts = _compare(asked, found, is_named, paper.dress["answers"] != "none")
        wrong.append((asked, parts, found))
    right = {id(found) for _, parts, found in wrong if not parts}
    sure = [one for one in landed if one["parse_confidence"] >= 0.9]
    return Seen(
        seed, paper.dress, wrong, len(landed), len(sure), sum(1 for one in sure if id(one) not in right)
    )


def _compare(asked: Asked, found: dict[str, Any], is_named: bool, is_answered: bool) -> list[str]:
    accepted = ACCEPTED[asked.kind] if is_named or asked.kind not in FREE else UNNAMED
    answer = list(map(fold, asked.answer)) if is_answered else []
    got = list(map(fold, found["answer"]))
    if asked.kind in FREE:
        answer, got = ["".join(answer)], ["".join(got)]
    checks = {
        "options": [fold(one["text"]) for one in found["options"]] == list(map(fold, asked.options)),
        "answer": answer == got,
        "type": found["question_type"] in accepted,
    }
    return [name for name, holds in checks.items() if not holds]


def see(seeds: Sequence[int]) -> list[Seen]:
    """Read the papers of some seeds."""
    return [judge(seed) for seed in seeds]


def summarise(seen: Sequence[Seen]) -> dict[str, float]:
    """Shares of questions and papers that were read fully right.

    Also the error of counts a paper, and of the questions that are sure the share that is wrong.
    """
    asked = sum(len(one.wrong) for one in seen)
    return {
        "questions_right": sum(one.right for one in seen) / asked,
        "papers_right": sum(one.right == len(one.wrong) for one in seen) / len(seen),
        "papers_below_half": sum(one.right < 0.5 * len(one.wrong) for one in seen) / len(seen),
        "count_error": sum(min(1.0, abs(one.count - len(one.wrong)) / len(one.wrong)) for one in seen)
        / len(seen),
        "sure_wrong": sum(one.sure_wrong for one in seen) / max(1, sum(one.sure for one in seen)),
    }


def choose_languages(seen: Sequence[Seen], name: str) -> list[Seen]:
    """The papers in a language, in `all`, or in any `other` than Chinese and English."""
    return [
        one
        for one in seen
        if name in (one.dress["language"], "all")
        or (name == "other" and one.dress["language"] not in ("zh", "en"))
    ]


def list_losses(seen: Sequence[Seen], least: int = 6) -> Iterator[tuple[float, int, str]]:
    """The pieces of dresses, worst first.

    Each with the share of questions lost where it is worn, and the number of such papers.
    """
    worn: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        for name, value in one.dress.items():
            worn[f"{name} {value!r}"].append(one)
    shares: Callable[[list[Seen]], float] = lambda some: 1 - summarise(some)["questions_right"]  # noqa: E731
    yield from sorted(
        ((shares(some), len(some), name) for name, some in worn.items() if len(some) >= least), reverse=True
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print the figures of some papers, and what costs most.

    How many (300) and from which seed (0) are the first two arguments, a language may follow.

    With `-v` every paper that lost something is named, with `-p SEED` one paper is printed.
    """
    numbers = [int(one) for one in arguments if one.isdigit()]
    if "-p" in arguments:
        print_paper(numbers[-1])
        return
    count, first = [*numbers, *(300, 0)[len(numbers) :]][:2]
    seen = choose_languages(
        see(range(first, first + count)),
        next((one for one in arguments if one in (*LANGUAGES, "other")), "all"),
    )
    for language in ("zh", "en", "other", "all"):
        some = choose_languages(seen, language)
        if not some:
            continue
        figures = summarise(some)
        print(
            f"{language}: {len(some)} papers; "
            + "; ".join(f"{name} {value:.1%}" for name, value in figures.items())
        )
    parts = Counter(
        f"{asked.kind} {'+'.join(parts)}" for one in seen for asked, parts, _ in one.wrong if parts
    )
    print("lost: " + ", ".join(f"{name} {count}" for name, count in parts.most_common(24)))
    for share, papers, name in list(list_losses(seen))[:40]:
        print(f"{share:6.1%} of {papers:3} papers  {name}")
    if "-v" in arguments:
        for one in seen:
            if one.right < len(one.wrong):
                lost = Counter(f"{asked.kind} {'+'.join(parts)}" for asked, parts, _ in one.wrong if parts)
                print(f"{one.seed}: {one.right}/{len(one.wrong)} ({one.count} read) {dict(lost)}")


def print_paper(seed: int) -> None:
    """Print a paper, and what was read of it where it is not what was asked."""
    paper = make_dressed(seed)
    print("\n".join(line.text for line in paper.lines), f"\n{paper.dress}")
    for asked, parts, found in judge(seed).wrong:
        if parts:
            got = found and {
                name: found[name] for name in ("question_type", "stem", "options", "answer", "parse_notes")
            }
            print(asked.number, parts, asked, "\n    read:", got)
    result = read_dressed(paper)
    print(*result["document"]["warnings"], sep="\n")
    asked_stems = {fold(one.stem) for one in paper.questions}
    for one in result["questions"]:
        if fold(one["stem"]) not in asked_stems:
            print(
                "further:",
                one["number_label"],
                one["question_type"],
                repr(one["stem"][:300]),
                one["options"],
                one["answer"],
            )


if __name__ == "__main__":
    main(sys.argv[1:])
