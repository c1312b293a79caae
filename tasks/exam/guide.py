"""What candidates are told about a session.

The grading is the judges' rubric as far as candidates may know it (tasks/judging/prompts.py): the meaning of the stars, and
what counts as the answer itself for each type of question. Nothing here depends on a question's key.
"""

from __future__ import annotations

from typing import Final

from schemas.errors import ContractError
from schemas.vocabulary import LANGUAGES
from tasks.questions import BareQuestion
from tasks.questions.forms import EXAMPLES, INSTRUCTIONS

STYLES: Final[dict[str, dict[str, str]]] = {
    "zero_shot": {
        "zh": "零样本：只给作答要求和题目，不给例子。",
        "en": "Zero-shot: put the instruction and the question to the model, without examples.",
    },
    "few_shot": {
        "zh": "少样本：先把“examples”中的例子（题目与作答）给模型看，再给作答要求和题目。",
        "en": "Few-shot: show the model the worked examples first, then the instruction and the question.",
    },
    "chain_of_thought": {
        "zh": "思维链：给出作答要求和题目之后，要求模型逐步思考，最后另起一行，以“最终答案：”开头写出答案和理由。",
        "en": "Chain of thought: after instruction and question, ask the model to think step by step and to end with a line that "
        "starts with “Final answer:” and gives the answer with its reason.",
    },
}

STARS: Final[dict[str, str]] = {
    "zh": "每题 0 至 3 星：0 星，答案和解释都不成立；1 星，答案错误，解释有一部分合理；2 星，答案正确，解释只有一部分合理；"
    "3 星，答案正确，解释合理。意思相同而说法不同的算正确。没有作答或拒绝作答记 0 星。",
    "en": "Every question gets 0 to 3 stars. 0: answer and explanation are wrong; 1: the answer is wrong, part of the explanation "
    "is reasonable; 2: the answer is correct, only part of the explanation is reasonable; 3: both are right. Other words of the "
    "same meaning are correct. No answer, or a refusal, gets 0.",
}

GRADING: Final[dict[str, dict[str, str]]] = {
    "zh": {
        "multiple_choice": "先看所选字母是否正是全部正确选项：多选、少选、错选都算答案错误；再看理由。",
        "true_false": "先看判断是否正确，再看理由；只写判断而不说明理由，得不到 3 星。",
        "fill_in_the_blank": "先看各空所填内容是否都正确、次序是否相符，再看说明。",
        "short_answer": "先看要点是否正确、齐全，再看表述是否说明了理由。",
        "term_explanation": "先看含义是否正确，再看要点是否齐全。",
        "material_analysis": "先看结论是否正确、是否出自材料，再看依据。",
        "calculation": "先看结果（连同单位）是否正确，再看主要步骤；结果错误而步骤部分合理，得 1 星。",
        "essay": "先看观点是否成立、是否切题，再看论据和条理。",
    },
    "en": {
        "multiple_choice": "First whether the letters are exactly the correct ones (one too many, too few or wrong makes the answer "
        "wrong), then the reasons.",
        "true_false": "First whether the verdict is right, then the reason; a verdict without a reason does not get 3 stars.",
        "fill_in_the_blank": "First whether every blank is filled correctly and in order, then the explanation.",
        "short_answer": "First whether the essential points are right and complete, then how they are explained.",
        "term_explanation": "First whether the meaning is right, then whether its essential points are there.",
        "material_analysis": "First whether the conclusion is right and follows from the material, then what it relies on.",
        "calculation": "First whether the result, with its unit, is right, then the main steps; a wrong result with partly "
        "reasonable steps gets 1 star.",
        "essay": "First whether the position holds and meets the topic, then its support and order.",
    },
}


def describe_session(style: str) -> dict[str, object]:
    """The guide of a session: its style in words, worked examples and grading, each by language.

    There are worked examples for few-shot only. Raises ContractError for an unknown style.
    """
    if style not in STYLES:
        raise ContractError(f"There is no prompt style {style!r}; tasks/exam/guide.py describes them.")
    examples = {
        language: [
            {"question_type": question_type, "question": question, "answer": answer}
            for question_type, question, answer in EXAMPLES[language]
        ]
        for language in LANGUAGES
        if style == "few_shot"
    }
    return {
        "prompt_style": style,
        "style": STYLES[style],
        "examples": examples,
        "stars": STARS,
        "grading": GRADING,
    }


def describe_task(bare: BareQuestion) -> dict[str, str]:
    """What is asked of an answer to a question and how it is graded, in the question's language."""
    return {
        "instruction": INSTRUCTIONS[bare.language][bare.question_type],
        "grading": GRADING[bare.language][bare.question_type],
    }
