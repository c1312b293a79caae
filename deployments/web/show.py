"""A question as safe HTML in its readers' language, by the words of wording.yaml."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

import yaml
from markupsafe import Markup, escape
from starlette.requests import Request

from schemas import patterns as re
from tasks.ingest import say_in_chinese
from tasks.questions import QuestionContent
from tasks.questions.display import render_line, render_text
from tasks.review import LANGUAGES, Language

# A word of letters, a number, or one character: Chinese is compared by character.
_TOKENS = re.compile(r"[A-Za-z]+|\d+|\s+|.", re.DOTALL)
_MOST_COMPARED = 4_000
_MARKS = {"removed": Markup("<del>{}</del>"), "added": Markup("<ins>{}</ins>")}
LANGUAGE_COOKIE = "proctor_language"


def show_bare_question(content: QuestionContent, language: Language) -> Markup:
    """Material, stem and options as a candidate sees them, and nothing of an answer."""
    bare = QuestionContent(content.bare)
    parts = [_show_section("material", bare.material, language)] if bare.material else []
    parts.append(_show_section("stem", bare.stem, language))
    if bare.options:
        parts.append(_show_options(bare, language))
    return Markup("").join(parts)


def show_question(content: QuestionContent, language: Language, *, answer_heading: str = "answer") -> Markup:
    """Material, stem, options with the key marked, answer and explanation.

    Each is shown under its heading.

    `answer_heading` names the words over the answer: beside a response it is the reference.
    """
    parts: list[Markup] = []
    if content.material:
        parts.append(_show_section("material", content.material, language))
    parts.append(_show_section("stem", content.stem, language))
    if content.options:
        parts.append(_show_options(content, language))
    parts.append(_show_answer(content, language, answer_heading))
    if content.explanation:
        parts.append(_show_section("explanation", content.explanation, language))
    return Markup("").join(parts)


def show_difference(before: str, after: str) -> Markup:
    """What a correction took away and put in, as one text that can be told without colour."""
    parts: list[Markup] = []
    for kind, text in _compare(before, after):
        if kind == "same":
            parts.append(escape(text))
        else:
            parts.append(_MARKS[kind].format(text))
    return Markup("").join(parts)


def _show_section(name: str, text: str, language: Language) -> Markup:
    return Markup('<section class="part {0}"><h3>{1}</h3>{2}</section>').format(
        name, say(name, language), render_text(text, language)
    )


def _show_options(content: QuestionContent, language: Language) -> Markup:
    mark = Markup(' <span class="key">{}</span>').format(say("key_mark", language))
    lines = Markup("").join(
        Markup('<li class="{0}"><b>{1}.</b> <span class="text">{2}</span>{3}</li>').format(
            "keyed" if option.label in content.answer else "",
            option.label,
            render_line(option.text, language),
            mark if option.label in content.answer else "",
        )
        for option in content.options
    )
    return Markup('<section class="part options"><h3>{0}</h3><ul>{1}</ul></section>').format(
        say("options", language), lines
    )


def _show_answer(content: QuestionContent, language: Language, heading: str) -> Markup:
    if not content.answer:
        return Markup('<section class="part answer"><h3>{0}</h3><p class="warning">{1}</p></section>').format(
            say(heading, language), say("no_answer", language)
        )
    if content.question_type == "true_false" and content.answer[0] in ("true", "false"):
        return _show_section(heading, say(content.answer[0], language), language)
    if content.options:
        return _show_section(heading, "".join(content.answer), language)
    if len(content.answer) == 1:
        return _show_section(heading, content.answer[0], language)
    lines = Markup("").join(
        Markup("<li>{}</li>").format(render_text(text, language)) for text in content.answer
    )
    return Markup('<section class="part answer"><h3>{0}</h3><ol>{1}</ol></section>').format(
        say(heading, language), lines
    )


def _compare(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Runs of text that are the `same`, `removed` or `added`; long texts are compared by line."""
    is_long = max(len(before), len(after)) > _MOST_COMPARED
    old, new = (
        text.splitlines(keepends=True) if is_long else _TOKENS.findall(text) for text in (before, after)
    )
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield "same", "".join(old[a:b])
            continue
        if a < b:
            yield "removed", "".join(old[a:b])
        if c < d:
            yield "added", "".join(new[c:d])


@lru_cache(maxsize=1)
def read_wording() -> Mapping[str, Mapping[str, str]]:
    """Each word in both languages, by its name."""
    text = resources.files("deployments.web").joinpath("wording.yaml").read_text("utf-8")
    loaded = yaml.safe_load(text)
    # YAML reads the names `true` and `false` as values.
    return MappingProxyType({str(name).lower(): words for name, words in loaded.items()})


def say(name: str, language: Language, /, **parts: object) -> str:
    """The words of that name with the parts put in; an unknown name raises KeyError."""
    return read_wording()[name][language].format(**parts)


def say_of_reading(text: str | None, language: Language) -> str:
    """What ingest said of a paper, in the reader's language; empty for nothing."""
    return say_in_chinese(text or "") if language == "zh" else text or ""


def choose_language(request: Request) -> Language:
    """What the reader chose, else what their browser asks for first of the two, else English."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    asked = [part.split(";")[0].strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
    return next((one for name in (chosen, *asked) for one in LANGUAGES if one == name), "en")
