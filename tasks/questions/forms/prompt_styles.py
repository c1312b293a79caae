"""How a question is put: a versioned instruction for its type, in its language, in a style.

Zero-shot, few-shot and chain-of-thought are the three styles of LLMEval-Fair (appendix B); the wording is ours.
A prompt holds the bare content of a question and nothing else of it. The question stands between two marker lines, so
that a simulated model can find it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schemas.errors import ContractError
from tasks.questions.pictures import PICTURE
from tasks.questions.question import BareQuestion, Option

# Part of every call key and of every response: a changed word below needs a new version (a test compares).
VERSION = "1"

Messages = list[dict[str, str]]

INSTRUCTIONS: dict[str, dict[str, str]] = {
    "zh": {
        "multiple_choice": "请完成下面这道选择题。正确选项可能有一个，也可能有多个。先写出所选选项的字母，再说明理由。",
        "true_false": "请判断下面的说法是否成立。先回答“正确”或“错误”，再说明理由。",
        "fill_in_the_blank": "请完成下面这道填空题。按空的先后顺序写出应填的内容，多个空之间用分号隔开，并作简要说明。",
        "short_answer": "请回答下面这道简答题，要点齐全，表述简明。",
        "term_explanation": "请解释下面的名词：写出它的含义和要点。",
        "material_analysis": "请阅读所给材料，依据材料回答问题，并说明依据。",
        "calculation": "请解答下面这道计算题，写出主要步骤，最后给出结果（有单位的写明单位）。",
        "essay": "请就下面的题目作论述：观点明确，论据充分，条理清楚。",
    },
    "en": {
        "multiple_choice": "Answer the multiple-choice question below. One option or several may be correct. "
        "Write the letter or letters first, then give your reasons.",
        "true_false": "Decide whether the statement below holds. Answer true or false first, then give your reason.",
        "fill_in_the_blank": "Fill in the blanks of the question below. Write what belongs in each blank, in order, "
        "separated by semicolons, with a brief explanation.",
        "short_answer": "Answer the question below. Be brief, but leave out no essential point.",
        "term_explanation": "Explain the term below: what it means and what is essential to it.",
        "material_analysis": "Read the material, answer the question from it, and say what you rely on.",
        "calculation": "Solve the problem below. Show the main steps and end with the result, with its unit if it has one.",
        "essay": "Discuss the topic below: take a clear position, support it, and keep the argument in order.",
    },
}

# Four examples of our own, in no bank: two statements with reasons, a term, a short answer.
EXAMPLES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "zh": (
        (
            "true_false",
            "如果一个正整数各位数字之和能被9整除，那么这个数也能被9整除。",
            "正确。10的任何次幂除以9都余1，所以一个数与它各位数字之和除以9的余数相同，二者同时能或同时不能被9整除。",
        ),
        (
            "term_explanation",
            "潮汐锁定",
            "潮汐锁定指一个天体在另一个天体的潮汐力长期作用下，自转周期变得与公转周期相等，从而总以同一面朝向对方的现象。"
            "月球始终以同一面朝向地球，就是这一现象的例子。",
        ),
        (
            "true_false",
            "光源朝观察者运动时，观察者测得的真空光速会变大。",
            "错误。真空中的光速与光源和观察者的运动无关。光源朝观察者运动时，改变的是光的频率（多普勒效应），不是光速。",
        ),
        (
            "short_answer",
            "为什么在高原上把鸡蛋煮熟要花更长的时间？",
            "海拔越高气压越低，水的沸点也随之降低，沸腾的水温度达不到100℃，蛋白质凝固得慢，所以需要更长的时间；"
            "用压力锅提高锅内气压可以缩短时间。",
        ),
    ),
    "en": (
        (
            "true_false",
            "If the digits of a positive integer add up to a multiple of 9, the integer is itself a multiple of 9.",
            "true. Every power of 10 leaves the remainder 1 when divided by 9, so an integer and the sum of its digits "
            "leave the same remainder: either both are multiples of 9 or neither is.",
        ),
        (
            "term_explanation",
            "Tidal locking",
            "Tidal locking is the state in which the tidal force of a neighbouring body has made a body's rotation take "
            "as long as its revolution, so that it always shows the neighbour the same face. The Moon, seen from the "
            "Earth, is an example.",
        ),
        (
            "true_false",
            "When a light source moves towards an observer, the observer measures a higher speed of light in vacuum.",
            "false. The speed of light in vacuum depends on the motion of neither source nor observer. What changes is "
            "the frequency of the light (the Doppler effect).",
        ),
        (
            "short_answer",
            "Why does it take longer to boil an egg hard on a high plateau?",
            "Air pressure falls with altitude, and the boiling point of water with it. The boiling water is cooler than "
            "100 °C, so the proteins set more slowly. A pressure cooker makes up for it by raising the pressure.",
        ),
    ),
}

_WORDS = {
    "zh": {
        "picture": "〔图{number}：{alt_text}〕",
        "undescribed": "〔图{number}，没有文字说明〕",
        "begin": "〔题目开始〕",
        "end": "〔题目结束〕",
        "material": "材料：",
        "examples": "先看几个例子。",
        "example": "例{number}",
        "question": "题目：",
        "answer": "回答：",
        "now": "请照例子的方式回答后面的题目。",
        "think": "请一步一步地思考，写出思考过程，最后另起一行，以“最终答案：”开头写出答案和理由。",
    },
    "en": {
        "picture": "[Picture {number}: {alt_text}]",
        "undescribed": "[Picture {number}, which nobody has described]",
        "begin": "[Question begins]",
        "end": "[Question ends]",
        "material": "Material:",
        "examples": "Here are some examples first.",
        "example": "Example {number}",
        "question": "Question:",
        "answer": "Answer:",
        "now": "Answer the question that follows in the same way.",
        "think": "Think step by step and write your steps down. End with a line that starts with “Final answer:” and "
        "gives the answer with its reason.",
    },
}


def render_prompt(bare: BareQuestion, style: str, *, sees_pictures: bool = False) -> tuple[Messages, str]:
    """The messages that put a question, and the version of their wording.

    Who does not see pictures is told in words what they show; the version says which of the two it was. Raises ContractError for an unknown type, language or style.
    """
    language, question_type = bare.language, bare.question_type
    try:
        words, instruction = _WORDS[language], INSTRUCTIONS[language][question_type]
    except KeyError:
        raise ContractError(
            f"There is no instruction for question type {question_type!r} in language {language!r}; "
            "tasks/questions/forms/prompt_styles.py holds them."
        ) from None
    shown = bare if sees_pictures or not bare.pictures else describe_pictures(bare)
    question = f"{words['begin']}\n{render_question(shown)}\n{words['end']}"
    if style == "zero_shot":
        parts = [instruction, question]
    elif style == "few_shot":
        parts = [_render_examples(language), instruction, question]
    elif style == "chain_of_thought":
        parts = [instruction, question, words["think"]]
    else:
        raise ContractError(
            f"There is no prompt style {style!r}; tasks/questions/forms/prompt_styles.py holds them."
        )
    version = f"{VERSION}/{style}/{question_type}/{language}"
    if bare.pictures:
        version += "/pictures" if sees_pictures else "/alt_text"
    return [{"role": "user", "content": "\n\n".join(parts)}], version


def describe_pictures(bare: BareQuestion) -> BareQuestion:
    """The question with words in the place of its pictures."""
    words = _WORDS[bare.language]
    told = {
        picture.number: (words["picture"] if picture.alt_text else words["undescribed"]).format(
            number=picture.number, alt_text=picture.alt_text
        )
        for picture in bare.pictures
    }

    def tell(text: str) -> str:
        return PICTURE.sub(lambda mark: told.get(int(mark[1]), mark[0]), text)

    return replace(
        bare,
        stem=tell(bare.stem),
        material=None if bare.material is None else tell(bare.material),
        options=tuple(Option(option.label, tell(option.text)) for option in bare.options),
        pictures=(),
    )


def render_question(bare: BareQuestion) -> str:
    """The question itself: material, stem and options, one option per line."""
    lines: list[str] = []
    if bare.material:
        lines += [_WORDS[bare.language]["material"], bare.material.strip(), ""]
    lines.append(bare.stem.strip())
    lines += [f"{option.label}. {option.text}" for option in bare.options]
    return "\n".join(lines)


def extract_question(messages: Sequence[Mapping[str, str]]) -> str | None:
    """The question inside a rendered prompt: what render_question gave; null when there is none.

    The outermost marker lines count, so that a question which quotes a marker is still found whole.
    """
    for message in reversed(messages):
        lines = message["content"].split("\n")
        for words in _WORDS.values():
            if words["begin"] in lines and words["end"] in lines:
                begin = lines.index(words["begin"])
                end = len(lines) - 1 - lines[::-1].index(words["end"])
                if begin < end:
                    return "\n".join(lines[begin + 1 : end])
    return None


def read_style(messages: Sequence[Mapping[str, str]]) -> str:
    """The style in which a rendered prompt puts its question."""
    text = messages[-1]["content"] if messages else ""
    for words in _WORDS.values():
        if text.endswith(words["think"]):
            return "chain_of_thought"
        if text.startswith(words["examples"]):
            return "few_shot"
    return "zero_shot"


def _render_examples(language: str) -> str:
    words = _WORDS[language]
    parts = [words["examples"]]
    for number, (question_type, question, answer) in enumerate(EXAMPLES[language], start=1):
        parts.append(
            f"{words['example'].format(number=number)}\n{INSTRUCTIONS[language][question_type]}\n"
            f"{words['question']}{question}\n{words['answer']}{answer}"
        )
    parts.append(words["now"])
    return "\n\n".join(parts)
