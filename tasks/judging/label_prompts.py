"""How an LLM is asked why an answer fails, and how its reply is read.

The five classes are those of LLMEval-Fair (section 3.1, figure 3); their descriptions here are ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemas.judgements import ERROR_CLASSES
from tasks.judging.prompts import render_sections
from tasks.models.reading import drop_thinking, find_objects
from tasks.questions import QuestionContent
from tasks.questions.forms import Messages

# Recorded with every label: a changed word below needs a new version (a test compares).
VERSION = "1"

# A simulated labeller knows the request by this line.
REQUEST = {
    "zh": "下面的作答被判为错误。请指出它失败的主要原因属于哪一类。",
    "en": "The response below was marked wrong. Say which class the main cause of its failure belongs to.",
}
_CLASSES = {
    "zh": {
        "disciplinary_knowledge": "缺少或错用本学科的概念、原理、方法",
        "misunderstanding": "误解题意，答非所问",
        "logical_reasoning": "所用知识不错，推理或计算的过程出错",
        "factual_inaccuracy": "人物、时间、数据等具体事实说错",
        "format_compliance": "没有按要求的形式作答，如未作判断、未选选项",
    },
    "en": {
        "disciplinary_knowledge": "a concept, principle or method of the subject is missing or misapplied",
        "misunderstanding": "the question is misread and something else is answered",
        "logical_reasoning": "the knowledge is sound, but the inference or calculation goes wrong",
        "factual_inaccuracy": "a particular fact is wrong: a person, a date, a figure",
        "format_compliance": "the demanded form is not kept: no verdict given, no option chosen",
    },
}
_REPLY = {
    "zh": '只输出一个 JSON 对象：{"error_class": "……"}，取值为上面五类之一的英文名。',
    "en": 'Return one JSON object and nothing else: {"error_class": "..."}, with the name of one of the five classes.',
}


def render_label_prompt(question: QuestionContent, response: str) -> Messages:
    """The messages that ask for the class of a failure."""
    language = question.language
    classes = "\n".join(f"{name}: {about}" for name, about in _CLASSES[language].items())
    sections = render_sections(question, response)
    return [
        {"role": "user", "content": f"{REQUEST[language]}\n\n{classes}\n\n{sections}\n\n{_REPLY[language]}"}
    ]


def parse_label(text: str) -> str | None:
    """The one class that a reply names.

    None where it names no class, or several, or names one only in a quotation.
    """
    text = drop_thinking(text)
    objects = find_objects(text, repair=True)
    if objects is None:
        return None
    labelled = [one for one in objects if "error_class" in one.value]
    if not labelled:
        return _pick_only(name for name in ERROR_CLASSES if name in text.casefold())
    # What is weighed before the object is no verdict yet; what follows it is.
    named = [name for name in ERROR_CLASSES if name in text[labelled[-1].end :].casefold()]
    own = [str(one.value["error_class"]).strip().casefold() for one in labelled if one.voice == "own"]
    label = _pick_only([*named, *own])
    return label if label in ERROR_CLASSES else None


def _pick_only(names: Iterable[str]) -> str | None:
    found = set(names)
    return found.pop() if len(found) == 1 else None
