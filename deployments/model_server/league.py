"""What a simulated candidate says in a league.

It sets questions, answers them and judges others, as well as its profile says. Everything that matters is written into the
texts, so that a server started again reads it from them: a question carries its level, an answer its worth, the manner of
its author's family and, where one was planted, a template that does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from deployments.model_server.profile import (
    SimulatedModel,
    compute_logistic,
    draw_index,
    draw_normal,
    draw_uniform,
)
from schemas import patterns as re
from tasks.league import extract_sections
from tasks.questions import compute_short_rank
from tasks.texts import read_texts

# Spread of questions of one asker, of answers of one answerer, and of a judge's eye, in logits.
QUESTION_SPREAD = 0.4
ANSWER_SPREAD = 0.8
# Without a reference answer a judge sees less.
BLIND_FACTOR = 2.0
MEMORISED_LOSS = 1.0
_SCALE = 1000.0
_MIDDLE = 5000.0

_KEY = re.compile(r'^  "(\w+)": <', re.MULTILINE)
_LEVEL = re.compile(r"\[level (\d+)\]")
_WORTH = re.compile(r"\[worth (\d+)\]")
_MANNER = re.compile(r"\[manner (\w+)\]")
_TEMPLATE = re.compile(r"\[template (T-\d+)\]")
_NOUNS: Final[dict[str, list[str]]] = read_texts("deployments.model_server", "league.yaml")


@dataclass(frozen=True)
class LeagueTask:
    """What a league asks of a model.

    Attributes:
        role: `ask`, `answer` or `judge`.
        keys: fields of the JSON object to return; none for a judge.
        question: the question; null when one is to be set.
        answers: letter → answer that is to be judged.
        has_reference: whether a judge sees the reference answer.
        is_ranked: whether a judge is to rank instead of giving scores.
        is_again: whether an earlier draft was too near to another question.
        language: of the prompt.
    """

    role: str
    keys: tuple[str, ...]
    question: str | None
    answers: dict[str, str]
    has_reference: bool
    is_ranked: bool
    is_again: bool
    language: str


def find_league_task(messages: Sequence[dict[str, str]]) -> LeagueTask | None:
    """The task of a league in the messages; null when there is none."""
    text = messages[-1]["content"] if messages else ""
    sections = extract_sections(messages)
    found = {name: body for name, label, body in sections if label is None}
    answers = {label: body for name, label, body in sections if name == "answer" and label}
    keys = tuple(_KEY.findall(text[text.rfind("\n{") + 1 :]))
    language = "zh" if re.search("[\u4e00-\u9fff]", text[:80]) else "en"
    if answers:
        tail = text[text.rfind("\n{") :]
        return LeagueTask(
            "judge",
            (),
            found.get("question"),
            answers,
            "reference" in found,
            '"ranking"' in tail,
            False,
            language,
        )
    if not keys:
        return None
    if "question" in found:
        return LeagueTask("answer", keys, found["question"], {}, False, False, False, language)
    return LeagueTask("ask", keys, None, {}, False, False, "draft" in found, language)


def write_league_reply(model: SimulatedModel, task: LeagueTask, draw: str, seed: str) -> str:
    """The reply of a simulated candidate, as JSON text."""
    if task.role == "ask":
        reply: dict[str, object] = _set_question(model, task, (seed, model.name, "ask", draw))
    elif task.role == "answer":
        reply = _answer(model, task, (seed, model.name, "answer", task.question or "", draw))
    else:
        reply = _judge(model, task, (seed, model.name, "judge", draw))
        if draw_uniform(seed, model.name, "unparsed", task.question or "", draw) < model.unparsed:
            return "I would rather not say which of them is best."
    return json.dumps(reply, ensure_ascii=False)


def is_memorised(text: str) -> bool:
    """Whether an answer was planted as memorised."""
    return _TEMPLATE.search(text) is not None


def _set_question(model: SimulatedModel, task: LeagueTask, place: tuple[object, ...]) -> dict[str, object]:
    traits = model.league
    if not task.is_again and draw_uniform(*place, "copy") < traits.copies:
        place = ("known", model.name)
    level = traits.setting + QUESTION_SPREAD * draw_normal(*place, "level")
    factor, summand = 2 + draw_index(90, *place, "factor"), 1 + draw_index(900, *place, "summand")
    things = ", ".join(
        f"{_pick(task.language, *place, number)} {draw_index(10_000, *place, 'count', number)}"
        for number in range(14)
    )
    stem = f"{things}. f(n) = {factor} n + {summand}; f(n) = ? [level {_write(level)}]"
    values: dict[str, object] = {
        "solution": f"n = int(input())\nprint({factor} * n + {summand})\n"
        if "examples" in task.keys
        else f"f(n) = {factor} n + {summand}",
        "result": f"{factor} n + {summand}",
        "decision": f"{factor} n + {summand}",
        "examples": [{"input": str(n), "output": str(factor * n + summand)} for n in (1, 7)],
        "standard": "40 / 20 / 20 / 20",
        "principle": _pick(task.language, *place, "principle"),
    }
    # The first field is the question, whatever the domain calls it; what is not known here is said in a word.
    reply = {key: values.get(key, f"f(n) = {factor} n + {summand}") for key in task.keys}
    return reply | {task.keys[0]: stem}


def _answer(model: SimulatedModel, task: LeagueTask, place: tuple[object, ...]) -> dict[str, object]:
    traits, question = model.league, task.question or ""
    worth = traits.solving - _read(_LEVEL, question) + ANSWER_SPREAD * draw_normal(*place, "worth")
    marks = [f"[manner {_manner(traits.family or model.owned_by)}]"]
    if draw_uniform(*place, "memorised") < traits.memorised:
        worth -= MEMORISED_LOSS
        marks.append(f"[template T-{100 + draw_index(900, *place, 'template')}]")
    marks.append(f"[worth {_write(worth)}]")
    formula = re.search(r"f\(n\) = (\d+) n \+ (\d+)", question)
    factor, summand = (int(formula[1]), int(formula[2])) if formula else (1, 0)
    right = summand if worth > 0 else summand + 1
    result = f"{factor} n + {right}"
    text = f"f(n) = {result}. {' '.join(marks)}"
    if "program" in task.keys:
        text = f"# {' '.join(marks)}\nn = int(input())\nprint({factor} * n + {right})\n"
    values: dict[str, object] = {"language": "Python", "result": result, "decision": result}
    return {key: values.get(key, text) for key in task.keys}


def _judge(model: SimulatedModel, task: LeagueTask, place: tuple[object, ...]) -> dict[str, object]:
    traits = model.league
    spread = traits.judging_spread * (1.0 if task.has_reference else BLIND_FACTOR)
    own = _manner(traits.family or model.owned_by)
    seen: dict[str, float] = {}
    flags: list[dict[str, str]] = []
    for label, text in task.answers.items():
        manner = _MANNER.search(text)
        bias = traits.family_bias if manner is not None and manner[1] == own else 0.0
        seen[label] = _read(_WORTH, text) + bias + spread * draw_normal(*place, text)
        template = _TEMPLATE.search(text)
        rate = traits.false_flag if template is None else traits.detection
        if draw_uniform(*place, "flag", text) < rate:
            flags.append({"answer": label, "template": template[1] if template else "T-000"})
    order = sorted(seen, key=lambda label: -seen[label])
    reasons = dict.fromkeys(order, "seen")
    if task.is_ranked:
        return {"ranking": order, "reasons": reasons, "memorised": flags}
    scores = {label: round(100 * compute_logistic(seen[label]), 1) for label in task.answers}
    return {"scores": scores, "reasons": reasons, "memorised": flags}


def _pick(language: str, *place: object) -> str:
    nouns = _NOUNS[language]
    return nouns[draw_index(len(nouns), *place, "noun")]


def _manner(family: str) -> str:
    """A family's manner: a mark that its members know, and that names nobody."""
    return compute_short_rank("manner", family).hex()[:6]


def _write(logits: float) -> int:
    return int(min(9999.0, max(0.0, _MIDDLE + _SCALE * logits)))


def _read(mark: re.Pattern[str], text: str) -> float:
    found = mark.search(text)
    return 0.0 if found is None else (int(found[1]) - _MIDDLE) / _SCALE
