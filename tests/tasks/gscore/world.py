"""A small CG-Eval of our own.

It has questions in the published file's form, references, a registry and simulated models.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl

from deployments.model_server.texts import write_model_answer
from tasks.gscore.cgeval.files import QUESTION_HEADERS, read_cgeval_questions

SUBJECTS = (
    ("人文与社会科学", "教育学"),
    ("科技与工程", "大学物理"),
    ("司法考试", "民法（司法考试）"),
    ("医师资格考试", "儿科学（医师资格考试）"),
    ("注册会计师考试", "《审计》（注册会计师考试）"),
)
RESULT_ONLY = (
    "以下是小学数学科目的问题，请进行计算并给出阿拉伯数字结果。请直接返回数值结果，不需要任何的汉字解释。\n"
)
WITH_STEPS = (
    "以下是小学数学科目的问题，请以“解：”开始给出解题过程，并在解题过程的最后换行，在最后一行以“最终答案：”开头，"
    "按顺序给出数值及其单位，采用英文逗号分割。\n"
)
WITH_LATEX = "以下是初中数学科目的问题，请使用latex语法给出解题过程，在最后一行以“最终答案：”开头，按照latex语法给出方程的根。\n"


def write_question_file(path: Path, per_subject: int = 4) -> pl.DataFrame:
    """Write a question file with all six categories and all five kinds.

    Returns it as it is read.
    """
    rows: list[list[str]] = []
    for category, subject in SUBJECTS:
        for number in range(per_subject):
            length = 40 + 17 * number
            term, question = f"第{number}个概念", f"第{number}个问题的原因是什么？"
            rows.append(
                [category, subject, "名词解释", str(number), term, str(length),
                 f"以下是{subject}科目的术语：{term}，请解释其含义，把回复控制在{length}个汉字左右。"]
            )  # fmt: skip
            rows.append(
                [category, subject, "简答题", str(number), question, str(length),
                 f"以下是{subject}科目的问题，请解答并把回复控制在{length}个汉字左右。\n{question}"]
            )  # fmt: skip
    for number in range(per_subject):
        for kind, subject, prompt, stem in (
            ("小学计算", "小学数学", RESULT_ONLY, f"{120 + number}÷{2 + number % 3}-{number}="),
            ("应用题", "小学数学", WITH_STEPS, f"一箱有{number + 6}个苹果，{number + 2}箱共有多少个？"),
            ("计算求解", "初中数学", WITH_LATEX, f"2x+{number}=0"),
        ):
            rows.append(["数学计算", subject, kind, str(number), stem, "20", prompt + stem])
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([QUESTION_HEADERS, *rows])
    return read_cgeval_questions(path)


def write_reference_file(path: Path, questions: pl.DataFrame) -> pl.DataFrame:
    """Write what the simulated candidates come close to as references; returns it."""
    table = questions.select(
        "cgeval_id",
        reference=pl.Series([write_model_answer(prompt) for prompt in questions["prompt"]], dtype=pl.String),
    )
    table.write_csv(path)
    return table


def write_registry(path: Path, *names: str, **changes: Any) -> None:
    """Register simulated candidates at 1 USD per million tokens in and 2 out."""
    models = {
        name: {
            "provider": "simulated",
            "organisation": name,
            "is_open": True,
            "parameters": {"temperature": 0, "max_tokens": 2048},
            "input_price_usd": 1.0,
            "output_price_usd": 2.0,
        }
        | changes
        for name in names
    }
    path.write_text(json.dumps({"providers": {"simulated": {"base_url": "simulated"}}, "models": models}))
