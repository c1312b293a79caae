"""Control answers: drawn by a seed over disciplines, worded by kind as candidates answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas import patterns as re
from tasks.judging.prompts import TRUTH
from tasks.questions import QuestionContent, compute_rank
from tasks.questions.forms import render_question

_TRUTHS: Final = ("true", "false")
# Why a wrong option would be right, where the source explains nothing: it names no answer, so that nothing speaks against the one given.
_GROUNDS: Final = {
    "zh": "依据相关概念的定义和通行教材的表述，把题干给出的条件逐条核对，只能得到上面的回答。",
    "en": "Checked point by point against the definition of the concept and what textbooks generally say, the conditions of the question "
    "leave this answer alone.",
}
# An explanation that names the answer would take back the wrong one that stands before it.
_NAMES_ANSWER: Final = re.compile(
    r"答案|[故应可]选|选\s*[A-Za-z]|正确|错误|成立|\b(?:answers?|options?|correct|incorrect|true|false|right|wrong|choose)\b",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"[\W_]+")
_SYLLABLES: Final = {
    "zh": tuple("云纸灯河石窗船鞋盐桥绳钟瓶叶雪茶墙针碗伞沙羽帘梯砖烛藤贝壶锁"),
    "en": ("mav", "teru", "olk", "sipo", "dren", "kuva", "belk", "ruso", "wim", "gapo", "fless", "tond", "yari", "pluk"),
}  # fmt: skip
_WORD_LENGTH: Final = 4
_SENTENCE: Final = 9
_STOPS: Final = {"zh": ("，", "。"), "en": (", ", ". ")}
# Of sixty control answers; chosen by simulation (docs/decisions/0023). An empty answer gets its 0 stars by rule, so that no judge
# is asked for it.
CONTROL_SHARES: Final[Mapping[str, int]] = {
    "reference": 20,
    "wrong_option": 12,
    "nonsense": 8,
    "other": 8,
    "echo": 8,
    "empty": 4,
}
_EMPTY: Final = "empty"
# Of each discipline so many are looked at; more would only cost time.
_MOST_PER_DISCIPLINE: Final = 120


@dataclass(frozen=True)
class ControlQuestion:
    """A question that control answers can be given to.

    Attributes:
        cluster: what it has in common with others: its text, or itself.
        content: question, reference answer and explanation.
    """

    question_uuid: str
    cluster: str
    discipline: str
    content: QuestionContent


@dataclass(frozen=True)
class Control:
    """A control answer.

    Attributes:
        number: its place among them, from 1: by lot.
        kind: one of CONTROL_SHARES.
        question: what it is given to.
        other_uuid: the question that it answers, where it is of the kind `other`.
    """

    number: int
    kind: str
    question: ControlQuestion
    response: str
    other_uuid: str | None = None


def write_reference(question: QuestionContent) -> str | None:
    """The reference answer with its explanation; null where there is none."""
    return _write_answer(question, question.answer) if any(question.answer) else None


def write_wrong_option(question: QuestionContent) -> str | None:
    """An answer that is wrong by the key, well explained; null where no key can say so."""
    answer = _find_wrong(question)
    if answer is None:
        return None
    explanation = question.explanation or ""
    if not explanation.strip() or _NAMES_ANSWER.search(explanation):
        explanation = _GROUNDS[question.language]
    return _write_answer(question, answer, explanation)


def write_nonsense(question: QuestionContent) -> str:
    """Words without meaning, always the same for a question."""
    comma, stop = _STOPS[question.language]
    words = list(_iter_syllables(question, 2 * _SENTENCE))
    return comma.join(words[:_SENTENCE]) + stop + comma.join(words[_SENTENCE:]) + stop.strip()


def write_other(question: QuestionContent, other: QuestionContent) -> str | None:
    """What answers another question; null where that may be right here."""
    if not any(other.answer) or other.language != question.language:
        return None
    response = _write_answer(other, other.answer)
    return None if _may_answer(other, response, question) else response


def write_echo(question: QuestionContent) -> str:
    """The question itself."""
    return render_question(question.bare)


# Kinds that need nothing but the question.
ALONE: Final[Mapping[str, Callable[[QuestionContent], str | None]]] = {
    "reference": write_reference,
    "wrong_option": write_wrong_option,
    "nonsense": write_nonsense,
    "echo": write_echo,
    "empty": lambda _: "",
}


def _write_answer(question: QuestionContent, answer: tuple[str, ...], explanation: str | None = None) -> str:
    """An answer as candidates are told to give it: what is chosen first, then why."""
    explanation = explanation or question.explanation
    if question.question_type == "true_false":
        lines = [TRUTH[question.language].get(value, value) for value in answer]
    elif question.question_type == "multiple_choice":
        texts = {option.label: option.text for option in question.options}
        chosen = [label for label in texts if label in answer] or list(answer)
        lines = ["".join(chosen), *(f"{label}. {texts[label]}" for label in chosen if label in texts)]
    else:
        lines = list(answer)
    return "\n".join([*lines, *([explanation.strip()] if explanation and explanation.strip() else [])])


def _find_wrong(question: QuestionContent) -> tuple[str, ...] | None:
    if question.question_type == "true_false" and question.answer and question.answer[0] in _TRUTHS:
        return (_TRUTHS[question.answer[0] == "true"],)
    if question.question_type == "multiple_choice" and question.answer:
        key = set("".join(question.answer))
        wrong = [option.label for option in question.options if option.label not in key]
        if wrong:
            return (min(wrong, key=lambda label: compute_rank("wrong option", question.stem, label)),)
    return None


def _may_answer(other: QuestionContent, response: str, question: QuestionContent) -> bool:
    """Whether the other's answer, written as `response`, could be taken for a right one."""
    chosen = {"true_false", "multiple_choice"}
    key = "".join(question.answer)
    if not key:
        return True
    if question.question_type == other.question_type and question.question_type in chosen:
        return set("".join(other.answer)) == set(key)
    if question.question_type == "multiple_choice":
        return any(re.search(rf"(?<![A-Za-z]){re.escape(label)}(?![A-Za-z])", response) for label in key)
    theirs, ours, written = (
        _MARKS.sub("", text).casefold() for text in ("".join(other.answer), key, response)
    )
    if question.question_type == "true_false":
        return ours in written or TRUTH[question.language].get(key, key) in response
    # "outcome 1." stands in "outcome 13." once marks are left out, as judges may do.
    return theirs in ours or ours in written


def _iter_syllables(question: QuestionContent, count: int) -> Iterator[str]:
    known = _SYLLABLES[question.language]
    length = _WORD_LENGTH if question.language == "zh" else 2
    for number in range(count):
        rank = compute_rank("nonsense", question.stem, number)
        yield "".join(known[byte % len(known)] for byte in rank[:length])


def count_kinds(size: int, *, is_asked: bool = False) -> dict[str, int]:
    """How many of each kind `size` control answers are; with `is_asked` of those asked for."""
    shares = {kind: share for kind, share in CONTROL_SHARES.items() if not (is_asked and kind == _EMPTY)}
    whole, before = sum(shares.values()), 0
    found: dict[str, int] = {}
    for kind, share in shares.items():
        before += share
        found[kind] = round(size * before / whole) - sum(found.values())
    return found


def count_asked(size: int) -> int:
    """How many of so many control answers a judge is asked for."""
    return size - count_kinds(size)[_EMPTY]


def draw_controls(
    pool: Sequence[ControlQuestion], size: int, seed: str, *, is_asked: bool = False
) -> list[Control]:
    """Control answers to a pool's questions by lot of `seed`, spread over disciplines and texts."""
    pool = _narrow(pool, seed)
    counts = count_kinds(size, is_asked=is_asked)
    used: Counter[str] = Counter()
    drawn: list[tuple[str, ControlQuestion, str, str | None]] = []
    left = 0
    for kind, count in counts.items():
        taken = list(
            _draw_kind(pool, kind, count + (left if kind not in ("reference", _EMPTY) else 0), seed, used)
        )
        drawn += taken
        if kind not in ("reference", _EMPTY):
            left += count - len(taken)
    drawn.sort(key=lambda one: compute_rank(seed, "control order", one[0], one[1].question_uuid))
    return [Control(number, *one) for number, one in enumerate(drawn, start=1)]


def _narrow(pool: Sequence[ControlQuestion], seed: str) -> list[ControlQuestion]:
    taken: Counter[str] = Counter()
    found: list[ControlQuestion] = []
    for question in sorted(pool, key=lambda one: compute_rank(seed, "control pool", one.question_uuid)):
        if taken[question.discipline] < _MOST_PER_DISCIPLINE:
            taken[question.discipline] += 1
            found.append(question)
    return found


def _draw_kind(
    pool: Sequence[ControlQuestion], kind: str, count: int, seed: str, used: Counter[str]
) -> Iterator[tuple[str, ControlQuestion, str, str | None]]:
    """Up to `count` control answers of a kind, each to a question of its own."""
    waiting = sorted(pool, key=lambda one: compute_rank(seed, "control", kind, one.question_uuid))
    clusters: Counter[str] = Counter()
    disciplines: Counter[str] = Counter()
    while count and waiting:
        # Of equal worth, the first by lot.
        question = min(
            waiting, key=lambda one: (clusters[one.cluster], disciplines[one.discipline], used[one.cluster])
        )
        waiting.remove(question)
        found = _write(kind, question, pool, seed)
        if found is None:
            continue
        clusters[question.cluster] += 1
        disciplines[question.discipline] += 1
        used[question.cluster] += 1
        count -= 1
        yield kind, question, *found


def _write(
    kind: str, question: ControlQuestion, pool: Sequence[ControlQuestion], seed: str
) -> tuple[str, str | None] | None:
    """What the answer says and whose it is; null where the question allows none of the kind."""
    if kind in ALONE:
        response = ALONE[kind](question.content)
        return None if response is None else (response, None)
    for other in sorted(
        pool, key=lambda one: compute_rank(seed, "other", question.question_uuid, one.question_uuid)
    ):
        if other.cluster != question.cluster and (text := write_other(question.content, other.content)):
            return text, other.question_uuid
    return None
