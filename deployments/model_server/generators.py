"""What a simulated generator writes: rule-made statements and rewrites, as JSON.

It answers requests whose last message holds a JSON object with a `task`:
`declarative_rewrite` {stem, option} → {"statement"};
`material_to_true_false` {material, count} → {"statements": [{"statement", "answer", "support"}]};
`paraphrase` {stem} → {"stem"};
`read_paper` {lines} → {"questions": [{"number", "type", "stem", "options", "answer", "key"}]}, which point at numbered lines; its request is
plain text, so that a model reads the lines as they are.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, Final

from deployments.model_server.profile import WritingTraits, draw_uniform
from schemas import patterns as re
from tasks.questions import fill_blanks, has_blank
from tasks.texts import read_texts

FAULTLESS = WritingTraits()
READ_PAPER: Final = "read_paper"
_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
# A statement is made false by turning its verb round; the first pair that occurs is used.
_TURNS: Final[list[list[str]]] = read_texts("deployments.model_server", "generators.yaml")


def find_task(messages: list[dict[str, str]]) -> dict[str, Any] | None:
    """The JSON object with a `task` in the last message, or the lines of a paper; else null."""
    text = messages[-1]["content"] if messages else ""
    _, is_paper, lines = text.partition(f"\n{READ_PAPER} ")
    if is_paper:
        return {"task": READ_PAPER, "lines": lines}
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            value = None
        if isinstance(value, dict) and isinstance(value.get("task"), str):
            return value
        start = text.find("{", start + 1)
    return None


def write_task_reply(task: dict[str, Any], traits: WritingTraits = FAULTLESS, *place: object) -> str:
    """The reply to a task as JSON text, with the fault that traits and luck give it."""
    name = task["task"]
    fault = draw_fault(traits, json.dumps(task, ensure_ascii=False, sort_keys=True), *place)
    if fault == "unreadable":
        return 'Here is what you asked for: {"statement": '
    if name == "declarative_rewrite":
        result: dict[str, Any] = {
            "statement": write_statement(str(task.get("stem", "")), str(task.get("option", "")))
        }
    elif name == "material_to_true_false":
        statements = write_statements(str(task.get("material", "")), int(task.get("count", 4)), fault)
        result = {"statements": statements}
    elif name == "paraphrase":
        result = {"stem": write_paraphrase(str(task.get("stem", "")))}
    elif name == READ_PAPER:
        result = {"questions": point_at_questions(str(task.get("lines", "")))}
    else:
        result = {"error": "unknown task"}
    if fault == "changed":
        result = {key: _change(text) if isinstance(text, str) else text for key, text in result.items()}
    return json.dumps(result, ensure_ascii=False)


def draw_fault(traits: WritingTraits, *place: object) -> str | None:
    """The fault of one reply; null for none."""
    luck = draw_uniform("writing", *place)
    for item in fields(traits):
        luck -= getattr(traits, item.name)
        if luck < 0:
            return item.name
    return None


def write_statement(stem: str, option: str) -> str:
    """Stem and option as one statement: the option in the blank, or after the stem."""
    is_chinese = _is_chinese(stem)
    option = option.strip().rstrip("。.")
    if has_blank(stem):
        statement = fill_blanks(stem, option, most=1).strip()
    else:
        trunk = stem.strip().rstrip("？?：:。. ")
        statement = f"{trunk}：{option}" if is_chinese else f"{trunk}: {option}"
    statement = statement.rstrip("。.？?")
    return statement + ("。" if is_chinese else ".")


def write_statements(material: str, count: int, fault: str | None = None) -> list[dict[str, str]]:
    """Statements about a material, true and false in turn, each with its deciding sentence."""
    sentences = [match.group().strip() for match in _SENTENCE.finditer(material)]
    statements: list[dict[str, str]] = []
    for sentence in sentences:
        if len(statements) >= count:
            break
        if len(sentence) < 6:
            continue
        wanted_false = len(statements) % 2 == 1 and fault not in ("one_sided", "copied")
        turned = _turn(sentence) if wanted_false else None
        statements.append(
            {
                "statement": sentence if fault == "copied" else _report(turned or sentence),
                "answer": "false" if turned else "true",
                "support": f"{sentence[::-1]}" if fault == "foreign_support" else sentence,
            }
        )
    return statements


def write_paraphrase(stem: str) -> str:
    """The stem asked in another frame."""
    return (
        f"请根据所学知识作答：{stem}" if _is_chinese(stem) else f"From what you have learned, answer: {stem}"
    )


_NUMBERED_LINE = re.compile(r"^(\d+)\| (.*)$", re.MULTILINE)
_OFFERED = re.compile(r"[（(\-*]?\s*([A-Ha-h])\s*[)）.．、:：\-]\s*(?=\S)")
_KEYED = re.compile(r"(?:答案|答|Answer|Key)\s*[:：]?\s*(.+)")


def point_at_questions(lines: str) -> list[dict[str, object]]:
    """A guess at a paper: what asks or stands above options or an answer is a question."""
    numbered = [(match[1], match[2].strip()) for match in _NUMBERED_LINE.finditer(lines)]
    questions: list[dict[str, object]] = []
    options: dict[str, str] = {}
    for place, (number, text) in enumerate(numbered):
        following = numbered[place + 1][1] if place + 1 < len(numbered) else ""
        offered, keyed = _OFFERED.match(text), _KEYED.match(text)
        if offered and questions:
            options[offered[1].upper()] = number
            questions[-1]["type"] = "single_choice"
        elif keyed and questions:
            key = keyed[1].strip()
            questions[-1] |= {"answer": [f"{number}:{key}"]} | ({"key": key} if options else {})
        elif text.endswith(("?", "？")) or _OFFERED.match(following) or _KEYED.match(following):
            options = {}
            questions.append({"number": "", "type": "short_answer", "stem": [number], "options": options})
    return questions


def _report(sentence: str) -> str:
    """A sentence of the material as something that is said of it."""
    if _is_chinese(sentence):
        first = sentence.rstrip("。！？!?；;")[:100]
        return f"从这段材料中可以看出，{first}，这一点写得很清楚。"
    return (
        f"What the text makes plain to its readers is that {sentence.rstrip('.!?;')[:160]}, and nothing less."
    )


def _change(text: str) -> str:
    """The text with its first number raised by one, or, without a number, denied."""
    number = re.search(r"\d+", text)
    if number is not None:
        return f"{text[: number.start()]}{int(number.group()) + 1}{text[number.end() :]}"
    return f"并非{text}" if _is_chinese(text) else f"Not: {text}"


def _turn(sentence: str) -> str | None:
    for old, new in _TURNS:
        if old in sentence:
            return sentence.replace(old, new, 1)
    return None


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)
