"""The prompts for questions of our own bank when they are scored by Gscore.

There is one fixed prompt per question, without examples.

They state what CG-Eval's do (section 3.2): the subject, the task, the length of the reference (definitions and short answers),
the form of the answer (calculations). CG-Eval's own questions are put with the prompts they come with, not with these.
"""

from __future__ import annotations

from string import Template

from tasks.gscore.cgeval.files import QuestionKind

PROMPT_VERSION = "gscore-2"
"""Stands with every question that is written; changes when a template changes."""

_TEMPLATES: dict[tuple[str, QuestionKind], Template] = {
    ("zh", "definition"): Template(
        "科目：$subject。请说明下面这个术语的含义，篇幅约$length个字。\n术语：$question"
    ),
    ("zh", "short_answer"): Template("科目：$subject。请回答下面的问题，篇幅约$length个字。\n$question"),
    ("zh", "arithmetic"): Template(
        "科目：$subject。请算出下面这道题的结果，只写出用阿拉伯数字表示的结果，不要写任何其他内容。\n$question"
    ),
    ("zh", "word_problem"): Template(
        "科目：$subject。请解答下面的题目。先写“解：”，再写出解题步骤；步骤写完后另起一行，以“最终答案：”开头，"
        "按题目提问的顺序写出各个数值和单位，之间用英文逗号隔开，例如：最终答案：3千米,2小时。\n$question"
    ),
    ("zh", "derivation"): Template(
        "科目：$subject。请解答下面的题目，数学式一律用LaTeX书写。写完步骤后另起一行，以“最终答案：”开头，用LaTeX写出结果："
        "导数写成y'或f'(x)的形式；一个未知数有几个解时写成“x=2或x=5”；有几个未知数时写成“x=2,y=5”，用英文逗号隔开。\n$question"
    ),
    ("en", "definition"): Template(
        "Subject: $subject. Explain what the following term means, in about $length characters.\nTerm: $question"
    ),
    ("en", "short_answer"): Template(
        "Subject: $subject. Answer the following question in about $length characters.\n$question"
    ),
    ("en", "arithmetic"): Template(
        "Subject: $subject. Work out the following and write the result in digits, with nothing else.\n$question"
    ),
    ("en", "word_problem"): Template(
        "Subject: $subject. Solve the following problem. Begin with “Solution:” and write down the steps. Then, on a new line that"
        " begins with “Final answer:”, give each value with its unit in the order asked for, separated by commas, for"
        " example: Final answer: 3 km,2 h.\n$question"
    ),
    ("en", "derivation"): Template(
        "Subject: $subject. Solve the following, writing all mathematics in LaTeX. After the steps, on a new line that begins with"
        " “Final answer:”, give the result in LaTeX: derivatives as y' or f'(x); several solutions of one unknown as"
        " “x=2 or x=5”; several unknowns as “x=2,y=5”, separated by commas.\n$question"
    ),
}


def render_prompt(kind: QuestionKind, language: str, subject: str, question: str, reference: str) -> str:
    """The prompt for a question of our bank; of the reference only the length is told.

    The language is `zh` or `en`.
    """
    return _TEMPLATES[language, kind].substitute(
        subject=subject, question=question, length=compute_reference_length(reference)
    )


def compute_reference_length(reference: str) -> int:
    """A reference's length as the prompts give it: its characters, white space not counted."""
    return len("".join(reference.split()))
