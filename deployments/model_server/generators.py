"""What a simulated generator writes: rule-made statements and rewrites, as JSON.

It answers requests whose last message holds a JSON object with a `task`:
`declarative_rewrite` {stem, option} → {"statement"};
`material_to_true_false` {material, count} → {"statements": [{"statement", "answer", "support"}]};
`paraphrase` {stem} → {"stem"};
`split_paper` {text} → {"questions": [{"number", "type", "stem", "options", "answer"}]}: one per paragraph.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any, Final

from deployments.model_server.profile import WritingTraits, draw_uniform
from tasks.questions import Option, fill_blanks, has_blank, write_options
from tasks.texts import read_texts

FAULTLESS = WritingTraits()
_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
# A statement is made false by turning its verb round; the first pair that occurs is used.
_TURNS: Final[list[list[str]]] = read_texts("deployments.model_server", "generators.yaml")


def find_task(messages: list[dict[str, str]]) -> dict[str, Any] | None:
    """The first JSON object with a `task` in the last message; null when there is none."""
    text = messages[-1]["content"] if messages else ""
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
    elif name == "split_paper":
        result = {"questions": split_paragraphs(str(task.get("text", "")))}
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


def split_paragraphs(text: str) -> list[dict[str, object]]:
    """A guess at a paper without numbers: by blank lines, options and answers by letters."""
    questions: list[dict[str, object]] = []
    for paragraph in re.split(r"\n\s*\n", text):
        options: list[Option] = []
        answer, lines = "", []
        for line in filter(None, (line.strip() for line in paragraph.split("\n"))):
            offered = re.match(r"[（(\-*]?\s*([A-Ha-h])\s*[)）.．、:：\-]\s*(.+)", line)
            keyed = re.match(r"(?:答案|答|Answer|Key)\s*[:：]?\s*(.+)", line)
            if offered:
                options.append(Option(offered.group(1), offered.group(2)))
            elif keyed:
                answer = keyed.group(1)
            else:
                lines.append(line)
        stem = "\n".join(lines)
        if len(stem) >= 8 and (options or answer):
            questions.append(
                {
                    "number": "",
                    "type": "multiple_choice" if options else "short_answer",
                    "stem": stem,
                    "options": write_options(options),
                    "answer": answer,
                }
            )
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
