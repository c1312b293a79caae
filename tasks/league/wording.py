"""What askers, answerers and judges are sent.

This is the domain's wording, the sections, and the form of the reply. What comes from another candidate stands between
lines that carry a tag made from the content itself: nobody can close a section, nor open another, without knowing the
tag beforehand. No prompt names a candidate.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schemas import patterns as re
from tasks.league.domain import Domain, Field
from tasks.texts import read_texts

Messages = list[dict[str, str]]

_WORDING: Final[dict[str, Any]] = read_texts("tasks.league", "wording.yaml")
_TITLES: Final[dict[str, dict[str, str]]] = _WORDING["titles"]
_FRAMES: Final[dict[str, dict[str, str]]] = _WORDING["frames"]
_LINE = re.compile(r"^=== (?P<title>.+?)(?: (?P<label>[A-Z]))? (?P<tag>[0-9a-f]{12}) ===$", re.MULTILINE)
_NAMES = {title: name for titles in _TITLES.values() for name, title in titles.items()}


@dataclass(frozen=True)
class PutQuestion:
    """A question as it is put and judged.

    Attributes:
        principle: what it turns on; null where the domain has none.
        scoring_standard: how 100 points are given; null where the domain has none.
    """

    stem: str
    reference_answer: str
    principle: str | None = None
    scoring_standard: str | None = None


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as a judge sees it: a letter, a text, and the result of running it.

    The result is None when the answer was not run.
    """

    label: str
    text: str
    execution: str | None = None


@dataclass(frozen=True)
class Prompt:
    """The messages, and the version of their wording."""

    messages: Messages
    version: str


def render_asking(domain: Domain, language: str, topic: str | None, draft: str | None = None) -> Prompt:
    """What an asker is sent; `draft` is its earlier question that was too near to another one."""
    sections: list[tuple[str, str]] = []
    if topic:
        sections.append(("topic", topic))
    if examples := domain.examples.get(language):
        sections.append(("examples", "\n\n".join(examples)))
    if draft is not None:
        sections.append(("draft", draft))
    frame = _FRAMES[language]
    notes = [frame["draft"]] if draft is not None else []
    return _render(domain, language, "ask", "ask", sections, notes, _render_form(domain.question, language))


def render_answering(domain: Domain, language: str, stem: str) -> Prompt:
    """What an answerer is sent: the question alone."""
    form = _render_form(domain.answer, language)
    return _render(domain, language, "answer", "data", [("question", stem)], [], form)


def render_judging(
    domain: Domain,
    language: str,
    question: PutQuestion,
    answers: Sequence[ShownAnswer],
    *,
    with_reference: bool,
) -> Prompt:
    """What a judge is sent: question, answers under letters, and the reference where shown."""
    sections = [("question", question.stem)]
    if with_reference:
        sections.append(("reference", question.reference_answer))
        if question.principle:
            sections.append(("principle", question.principle))
    if question.scoring_standard:
        sections.append(("standard", question.scoring_standard))
    for answer in answers:
        sections.append((f"answer {answer.label}", answer.text))
        if answer.execution:
            sections.append((f"execution {answer.label}", answer.execution))
    frame = _FRAMES[language]
    kind = "ranking" if domain.aggregation == "borda" else "scores"
    entries = [f'"{answer.label}"' if kind == "ranking" else f'"{answer.label}": N' for answer in answers]
    form = frame[kind].format(labels=", ".join(entries)) + "\n" + frame[f"{kind}_note"]
    against = frame["with_reference" if with_reference else "without_reference"]
    return _render(domain, language, "judge", "data", sections, [against], form)


def extract_sections(messages: Sequence[Mapping[str, str]]) -> list[tuple[str, str | None, str]]:
    """(name, label, text) of each section of a league's prompt, in order; empty for others."""
    text = messages[-1]["content"] if messages else ""
    marks = [match for match in _LINE.finditer(text) if match["title"] in _NAMES]
    if len(marks) < 2 or _NAMES[marks[-1]["title"]] != "end":
        return []
    # The last line's tag is ours: a line with another one stands inside a section.
    marks = [match for match in marks if match["tag"] == marks[-1]["tag"]]
    return [
        (_NAMES[mark["title"]], mark["label"], text[mark.end() + 1 : after.start()].removesuffix("\n"))
        for mark, after in itertools.pairwise(marks)
    ]


def _render(
    domain: Domain,
    language: str,
    role: str,
    frame_name: str,
    sections: Sequence[tuple[str, str]],
    notes: Sequence[str],
    form: str,
) -> Prompt:
    frame = _FRAMES[language]
    parts = [domain.prompts[language][role], *notes]
    if sections:
        digest = hashlib.sha256("\0".join(text for _, text in sections).encode("utf-8", "surrogatepass"))
        tag = digest.hexdigest()[:12]
        titles = _TITLES[language]
        lines = [frame[frame_name].format(tag=tag), ""]
        for name, text in sections:
            kind, _, label = name.partition(" ")
            lines += [f"=== {titles[kind]}{f' {label}' if label else ''} {tag} ===", text]
        parts.append("\n".join([*lines, f"=== {titles['end']} {tag} ==="]))
    parts.append(f"{frame['reply']}\n{form}")
    wording = json.dumps([domain.prompts[language][role], frame, _TITLES[language]], ensure_ascii=False)
    version = f"{role}-{hashlib.sha256(wording.encode()).hexdigest()[:8]}/{language}"
    return Prompt([{"role": "user", "content": "\n\n".join(parts)}], version)


def _render_form(fields: Sequence[Field], language: str) -> str:
    """The JSON object that is asked for, with what each field is to hold."""
    lines = [f'  "{field.key}": <{field.about[language]}>' for field in fields]
    return "{\n" + ",\n".join(lines) + "\n}"
