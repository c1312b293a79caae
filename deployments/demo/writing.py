"""Writing tasks in CG-Eval's form for the demo, with references.

They are questions of our own in each of its six categories. References are what a simulated candidate comes close to, so that an abler one has higher Gscores.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

from deployments.model_server import write_model_answer

# Category, subject, a term to define, and a question to answer in some sentences.
_TEXTS: Final = (
    ("科技与工程", "大学物理", "角动量", "为什么高速旋转的陀螺不容易倒下？"),
    ("科技与工程", "操作系统", "虚拟内存", "死锁产生的必要条件有哪些？"),
    ("人文与社会科学", "教育学", "形成性评价", "班级授课制有哪些优点和不足？"),
    ("人文与社会科学", "心理学", "工作记忆", "遗忘的进程有什么规律？"),
    ("司法考试", "民法（司法考试）", "善意取得", "可撤销的合同有哪些情形？"),
    ("医师资格考试", "儿科学（医师资格考试）", "生理性黄疸", "婴儿添加辅食应当遵循哪些原则？"),
    ("注册会计师考试", "《审计》（注册会计师考试）", "重要性水平", "函证程序适用于哪些项目？"),
)
# Kind as the file prints it, subject, what is asked of the form, and the sums.
_SUMS: Final = (
    (
        "小学计算",
        "小学数学",
        "以下是小学数学科目的问题，请进行计算并给出阿拉伯数字结果。请直接返回数值结果，不需要任何的汉字解释。",
        ("126÷3-7=", "48×5+12=", "(90-36)÷6="),
    ),
    (
        "应用题",
        "小学数学",
        "以下是小学数学科目的问题，请以“解：”开始给出解题过程，并在解题过程的最后换行，在最后一行以“最终答案：”开头，"
        "按顺序给出数值及其单位，采用英文逗号分割。",
        ("一箱有12个苹果，5箱共有多少个？", "小华每天读8页书，9天读了多少页？", "一辆车每小时行60千米，3小时行多少千米？"),
    ),
    (
        "计算求解",
        "初中数学",
        "以下是初中数学科目的问题，请使用latex语法给出解题过程，在最后一行以“最终答案：”开头，按照latex语法给出方程的根。",
        ("3x-12=0", "2x+6=0", "5x-35=0"),
    ),
)  # fmt: skip
_HEADINGS: Final = (
    "大科目类别", "子科目名称", "题目类型", "题目编号", "题目文本", "题目答案的汉字长度", "题目prompt",
)  # fmt: skip
_LENGTHS: Final = (60, 90)


def write_writing_tasks(folder: Path) -> tuple[Path, Path]:
    """Write the question file and the references, always the same; returns both."""
    rows: list[tuple[str, ...]] = []
    for category, subject, term, question in _TEXTS:
        for number, length in enumerate(_LENGTHS, start=1):
            rows += [
                (category, subject, "名词解释", str(number), term, str(length),
                 f"以下是{subject}科目的术语：{term}，请解释其含义，把回复控制在{length}个汉字左右。"),
                (category, subject, "简答题", str(number), question, str(length),
                 f"以下是{subject}科目的问题，请解答并把回复控制在{length}个汉字左右。\n{question}"),
            ]  # fmt: skip
    for kind, subject, asked, sums in _SUMS:
        rows += [
            ("数学计算", subject, kind, str(number), stem, "20", f"{asked}\n{stem}")
            for number, stem in enumerate(sums, start=1)
        ]
    questions, references = folder / "writing-questions.csv", folder / "writing-references.csv"
    with questions.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([_HEADINGS, *rows])
    with references.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                (*_HEADINGS[1:4], "参考答案"),
                *((*row[1:4], write_model_answer(row[6]) or "") for row in rows),
            ]
        )
    return questions, references
