"""The prompts of our own questions by kind and language, and their references."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.vocabulary import LANGUAGES, QUESTION_TYPES
from tasks.gscore.calculation.final_answer import parse_final_answer
from tasks.gscore.cgeval.files import KIND_BY_CGEVAL_TYPE, QuestionKind, read_cgeval_questions
from tasks.gscore.cgeval.own_bank import SCORED_TYPES, find_final_answer, find_kind, write_bank_questions
from tasks.gscore.cgeval.prompts import PROMPT_VERSION, render_prompt
from tasks.gscore.cgeval.question_set import read_references
from tests.tasks.bank.augment.conftest import make_accepted

# What a prompt begins with, before the question itself.
PROMPTS: dict[tuple[str, QuestionKind], str] = {
    ("zh", "definition"): "科目：法理学。请说明下面这个术语的含义，篇幅约8个字。\n术语：",
    ("zh", "short_answer"): "科目：法理学。请回答下面的问题，篇幅约8个字。\n",
    (
        "zh",
        "arithmetic",
    ): "科目：法理学。请算出下面这道题的结果，只写出用阿拉伯数字表示的结果，不要写任何其他内容。\n",
    (
        "zh",
        "word_problem",
    ): "科目：法理学。请解答下面的题目。先写“解：”，再写出解题步骤；步骤写完后另起一行，以“最终答案：”开头，按题目提问的顺序写出各个数值和单位，之间用英文逗号隔开，例如：最终答案：3千米,2小时。\n",
    (
        "zh",
        "derivation",
    ): "科目：法理学。请解答下面的题目，数学式一律用LaTeX书写。写完步骤后另起一行，以“最终答案：”开头，用LaTeX写出结果：导数写成y'或f'(x)的形式；一个未知数有几个解时写成“x=2或x=5”；有几个未知数时写成“x=2,y=5”，用英文逗号隔开。\n",
    (
        "en",
        "definition",
    ): "Subject: 法理学. Explain what the following term means, in about 8 characters.\nTerm: ",
    ("en", "short_answer"): "Subject: 法理学. Answer the following question in about 8 characters.\n",
    (
        "en",
        "arithmetic",
    ): "Subject: 法理学. Work out the following and write the result in digits, with nothing else.\n",
    (
        "en",
        "word_problem",
    ): "Subject: 法理学. Solve the following problem. Begin with “Solution:” and write down the steps. Then, on a new line that begins with “Final answer:”, give each value with its unit in the order asked for, separated by commas, for example: Final answer: 3 km,2 h.\n",
    (
        "en",
        "derivation",
    ): "Subject: 法理学. Solve the following, writing all mathematics in LaTeX. After the steps, on a new line that begins with “Final answer:”, give the result in LaTeX: derivatives as y' or f'(x); several solutions of one unknown as “x=2 or x=5”; several unknowns as “x=2,y=5”, separated by commas.\n",
}


@pytest.mark.parametrize(("language", "kind"), PROMPTS)
def test_a_prompt_states_subject_task_length_or_form_and_the_question(
    language: str, kind: QuestionKind
) -> None:
    prompt = render_prompt(kind, language, "法理学", "何谓 $法$？{x}", "国家制定的 规则。\n")
    assert prompt == PROMPTS[language, kind] + "何谓 $法$？{x}"
    if kind in ("word_problem", "derivation"):
        # The marker that is asked for is the one that is looked for.
        marker = "最终答案：" if language == "zh" else "Final answer:"
        assert marker in prompt
        assert parse_final_answer(f"步骤\n{marker} 2")[:2] == ("2", "final_answer_marker")


def test_every_kind_has_a_prompt_in_every_language_and_other_words_need_another_version() -> None:
    assert set(PROMPTS) == {
        (language, kind) for language in LANGUAGES for kind in KIND_BY_CGEVAL_TYPE.values()
    }
    assert set(SCORED_TYPES) <= set(QUESTION_TYPES)
    digest = hashlib.sha256("\0".join(PROMPTS[key] for key in sorted(PROMPTS)).encode()).hexdigest()[:8]
    assert (PROMPT_VERSION, digest) == ("gscore-2", "e146b9f9")


@pytest.mark.parametrize(
    ("worked", "final"),
    [
        ("964", "964"),
        ("R=U/I=6/2=3Ω（6分）", "3Ω"),
        ("（1）I=U/R=20/10=2A（4分）\n（2）P=UI=20×2=40W（4分）", "2A,40W"),
        ("（1）0.05 （2）0", "0.05,0"),
        ("解：x²-7x+10=0，(x-2)(x-5)=0\nx=2或x=5", "x=2或x=5"),
        ("x=2,y=5", "x=2,y=5"),
        ("解：3×4=12\n答：12个。", "12个"),
        ("Thus the area is as boxed: $\\boxed{\\frac{1}{2}}$", "\\frac{1}{2}"),
        ("Some steps.\nFinal answer: 3 km,2 h", "3 km,2 h"),
        (
            "因为公积金是公司按照法律和章程的规定从税后利润中提取的累积资金，所以当累计额达到注册资本的百分之五十以上时，公司可以不再提取它，这就是它的上限。",
            None,
        ),
    ],
)
def test_the_final_answer_of_a_reference_is_told_or_left_open(worked: str, final: str | None) -> None:
    assert find_final_answer(worked) == final


@pytest.mark.parametrize(
    ("stem", "final", "kind"),
    [
        ("125×8-36=", "964", "arithmetic"),
        ("计算：$\\frac{1}{2}+\\frac{1}{4}$", "\\frac{3}{4}", "arithmetic"),
        ("What is (3 + 4) * 2?", "14", "arithmetic"),
        ("3x+2=8, x=?", "2", "derivation"),
        ("求电阻。", "3Ω", "word_problem"),
        ("How far, and how long?", "3 km,2 h", "word_problem"),
        ("Find the price.", "$12.50 dollars", "word_problem"),
        ("Differentiate x^2.", "2x", "derivation"),
        ("解方程 x²-7x+10=0。", "x=2或x=5", "derivation"),
        ("一箱有6个苹果，2箱共有多少个？", "12个", "word_problem"),
        ("Convergent or not?", "收敛", "derivation"),
    ],
)
def test_a_calculation_is_put_by_the_form_of_its_question_and_answer(
    stem: str, final: str, kind: str
) -> None:
    question = {"question_type": "calculation", "stem": stem, "material": None}
    assert find_kind(question, final) == kind


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{"pictures": None, **row} for row in rows], infer_schema_length=None)


def make_calculation(*answer: str, **changes: Any) -> dict[str, Any]:
    return make_accepted(
        "Two resistors of 6 ohm each stand side by side. What do they come to?",
        question_type="calculation",
        options=[],
        answer=list(answer),
        explanation=changes.pop("explanation", None),
        **changes,
    )


def test_what_is_written_is_read_back_with_material_steps_and_final_answer(tmp_path: Path) -> None:
    questions, references = tmp_path / "q.csv", tmp_path / "r.csv"
    rows = frame(
        make_calculation("3 ohm", explanation='R = 6/2,\nso "3"', material="Ohm's law.", language="en"),
        make_calculation("R=6/2=3Ω", explanation="By the rule.", sub_discipline=None, language="zh", discipline="Law"),
        make_calculation("2A", "40W", explanation="=U/R, P=UI", language="zh", revision=3, discipline="Arts"),
        make_calculation("3 ohm", pictures=[{"number": 1, "sha256": "0" * 64, "place": "stem"}], revision=2),
    )  # fmt: skip
    written = write_bank_questions(rows, questions, references)
    assert (dict(written.counts), written.pictured_count, written.unresolved_count) == (
        {"word_problem": 3},
        1,
        0,
    )
    # No spreadsheet runs it.
    assert "'=U/R, P=UI" in references.read_text("utf-8")
    read = read_cgeval_questions(questions)
    assert read.select("category", "subject").rows() == [
        ("Engineering", "Computer Science"),
        ("Law", "Law"),
        ("Arts", "Computer Science"),
    ]
    assert read["prompt"][0].endswith("\nOhm's law.\n\n" + rows["stem"][0])
    assert read["prompt"][1].startswith("科目：法学。")
    assert read_references(references, read).select("references", "reference_answers").rows() == [
        (['R = 6/2,\nso "3"'], ["3 ohm"]),
        (["R=6/2=3Ω"], ["3Ω"]),
        (["=U/R, P=UI"], ["2A,40W"]),
    ]


def test_where_nothing_can_be_written_no_file_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    with pytest.raises(UsageError, match="of 1 calculations it cannot be told"):
        write_bank_questions(frame(make_calculation("A text of many words. " * 9)), path, tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
