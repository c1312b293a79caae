"""Keys found by what repeats and by fit.

They are lines of any words, marked options, blocks, and files beside a paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tasks.ingest.content.choices import cut_badges
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.free_answers import keep_translations
from tasks.ingest.content.key_answers import cut_echo
from tasks.ingest.content.key_marks import KeyPart
from tasks.ingest.content.key_regions import find_region
from tasks.ingest.content.section_keys import take_key_lines
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import Section
from tests.benchmarks.ingest_accuracy import read_landed
from tests.benchmarks.ingest_key_marks import Paper, make_papers
from tests.tasks.ingest.builders import make_docx, make_pdf, make_xlsx, table, write

QUESTIONS = (
    (
        "Which wind turns the mill in winter?",
        ("the north wind", "the sea breeze", "the trade wind", "none"),
        "A",
    ),
    ("Who keeps the lamp of the harbour?", ("the miller", "the keeper", "the mayor", "the smith"), "B"),
    ("What is carried by the ferry?", ("salt", "grain", "stone", "wool"), "D"),
    ("Where does the river rise?", ("in the marsh", "at the quay", "in the hills", "by the mill"), "C"),
    ("When is the fair held?", ("in May", "in June", "in July", "in autumn"), "B"),
)
EXPECTED = [(stem, options, [key]) for stem, options, key in QUESTIONS]


def write_paper(
    answer: Callable[[int, str, str], str] = lambda *_: "",
    mark: Callable[[str], str] = lambda text: text,
    end: Callable[[str], str] = lambda _: "",
    tail: str = "",
) -> str:
    """A paper of five questions, with `answer` below each, and marks on options and stems."""
    lines = ["Harbour test", ""]
    for number, (stem, options, key) in enumerate(QUESTIONS, start=1):
        lines.append(f"{number}. {stem}{end(key)}")
        lines += [
            f"{label}. {mark(text) if label == key else text}"
            for label, text in zip("ABCD", options, strict=True)
        ]
        lines += [answer(number, key, options["ABCD".index(key)]), ""]
    return "\n".join(lines) + tail


def read(path: Path) -> list[tuple[str, tuple[str, ...], list[str]]]:
    return [
        (question["stem"], tuple(option["text"] for option in question["options"]), question["answer"])
        for question in read_landed(path)["questions"]
    ]


@pytest.mark.parametrize(
    "form",
    [
        "Ans: ({k})",
        "The correct option is {k}",
        "Answer to Question {n}\n({K}) is correct.",
        "Answer to Question {n}\n({K}) is correct. The miller said so to everybody.",
        "[答案]{K}",
        "=> {K}",
        "Correct: {K}. {text}",
        "Richtig ist {K}.",
        "Ответ: {K}",
        "Option {K} is the right one",
        "Rationale: {K} is right because of the hills.",
        "本题选{K}",
        "故选：{K}。",
        "Answer: {text}",
        "#{K}",
        "Respuesta correcta: {k}",
    ],
)
def test_what_repeats_once_a_question_and_takes_its_labels_is_the_key(tmp_path: Path, form: str) -> None:
    paper = write_paper(lambda n, key, text: form.format(n=n, k=key.lower(), K=key, text=text))
    assert read(write(tmp_path, "paper.txt", paper)) == EXPECTED


@pytest.mark.parametrize("form", ["{} ✅", "{} ✓", "* {}", "{} (correct)", "{} ##", "{} (Lösung)", "☞ {}"])
def test_a_sign_on_one_option_of_most_questions_is_the_key_whatever_it_is(tmp_path: Path, form: str) -> None:
    assert read(write(tmp_path, "paper.txt", write_paper(mark=form.format))) == EXPECTED


def write_options(write_one: Callable[[str, str, bool], str], stop: str = ". ", end: str = "") -> str:
    """The five questions, each option written by its label, its text and whether it is right."""
    lines = ["Harbour test", ""]
    for number, (stem, options, key) in enumerate(QUESTIONS, start=1):
        lines.append(f"{number}{stop}{stem}{end}")
        lines += [write_one(label, text, label == key) for label, text in zip("ABCD", options, strict=True)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("right", "wrong"), [("[x] ", "[ ] "), ("- [X] ", "- [ ] "), ("+", "-"), ("☑ ", "☐ "), ("✓ ", "✗ ")]
)
@pytest.mark.parametrize("stop", [". ", ".- ", "°) "])
def test_of_two_signs_that_part_the_options_of_most_questions_the_rarer_marks_the_key(
    tmp_path: Path, right: str, wrong: str, stop: str
) -> None:
    paper = write_options(lambda _, text, is_right: f"{right if is_right else wrong}{text}", stop)
    assert read(write(tmp_path, "paper.txt", paper)) == EXPECTED


def test_signs_of_numbers_are_no_marks(tmp_path: Path) -> None:
    lines = [
        line
        for number in range(1, 6)
        for line in (f"{number}. What is {number} − 3?", "A. -1", "B. +2", f"C. {number + 4}", "D. +6")
    ]
    found = read(write(tmp_path, "paper.txt", "\n".join(lines)))
    assert [(options[:2], answer) for _, options, answer in found] == [(("-1", "+2"), [])] * 5


@pytest.mark.parametrize("stop", [". ", "．", ") "])
def test_where_quantities_are_offered_signs_are_theirs_wherever_one_is_alone(
    tmp_path: Path, stop: str
) -> None:
    signs = ("+---", "-+--", "--+-", "---+", "+---", "--+-")
    offered = [
        tuple(f"{sign}{number + at}" for at, sign in enumerate(own)) for number, own in enumerate(signs, 1)
    ]
    lines = [
        line
        for number, own in enumerate(offered, 1)
        for line in (
            f"{number}. What is the value of x in equation {number}?",
            *(f"{label}{stop}{text}" for label, text in zip("ABCD", own, strict=True)),
        )
    ]
    found = read(write(tmp_path, "paper.txt", "\n".join(lines)))
    assert [(options, answer) for _, options, answer in found] == [(own, []) for own in offered]


@pytest.mark.parametrize("look", ["<b>{}</b>", "<span style='color:red'>{}</span>", "<mark>{}</mark>"])
def test_what_alone_stands_out_in_the_options_of_a_web_page_is_the_key(tmp_path: Path, look: str) -> None:
    def write_one(label: str, text: str, is_right: bool) -> str:
        return f"<br>{label}. {look.format(text) if is_right else text}"

    text = write_options(write_one, end="<br>").replace("\n", "<br>")
    for shown in (text, f"<div style='color:#2f3239'>{text}</div>", f"<font color='#2f3239'>{text}</font>"):
        assert read(write(tmp_path, "paper.html", f"<html><body>{shown}</body></html>")) == EXPECTED
    rows = [
        f"<tr><td>{number}</td><td>{stem}</td><td>"
        + "<br>".join(
            f"{label}. {look.format(text) if label == key else text}"
            for label, text in zip("ABCD", options, strict=True)
        )
        + "</td></tr>"
        for number, (stem, options, key) in enumerate(QUESTIONS, start=1)
    ]
    head = "<tr><td>No.</td><td>Question</td><td>Options</td></tr>"
    page = f"<html><body><table>{head}{''.join(rows)}</table></body></html>"
    assert read(write(tmp_path, "table.html", page)) == EXPECTED


@pytest.mark.parametrize(
    "look", ["<font color='red'>{}</font>", '<span style="color: red">{}</span>', "<b>{}</b>"]
)
def test_what_alone_stands_out_by_tags_within_a_text_is_the_key(tmp_path: Path, look: str) -> None:
    assert read(write(tmp_path, "paper.md", write_paper(mark=look.format))) == EXPECTED


@pytest.mark.parametrize("words", [("对", "错"), ("Richtig", "Falsch"), ("True", "False")])
def test_a_judgement_that_stands_out_is_the_key(tmp_path: Path, words: tuple[str, str]) -> None:
    lines = []
    for number, place in enumerate((0, 1, 1, 0), start=1):
        marked = [f"<mark>{word}</mark>" if at == place else word for at, word in enumerate(words)]
        lines += [f"{number}. The mill {number} is old.", f"A. {marked[0]}", f"B. {marked[1]}", ""]
    keys = [answer for _, _, answer in read(write(tmp_path, "paper.md", "\n".join(lines)))]
    assert keys == [["true"], ["false"], ["false"], ["true"]]


def test_tags_around_the_same_text_are_what_is_asked_about(tmp_path: Path) -> None:
    paper = "\n".join(
        f"{number}. Which prints {text} bold?\nA. <b>{text}</b>\nB. <u>{text}</u>\nC. <i>{text}</i>"
        for number, text in enumerate(("mill", "lamp", "ferry", "lock"), start=1)
    )
    assert [options for _, options, _ in read(write(tmp_path, "paper.md", paper))] == [
        (f"<b>{text}</b>", f"<u>{text}</u>", f"<i>{text}</i>") for text in ("mill", "lamp", "ferry", "lock")
    ]


def test_tags_that_a_question_asks_about_stay(tmp_path: Path) -> None:
    paper = "1. Which prints bold?\nA. <b>text</b>\nB. <u>text</u>\nC. <mark>text</mark>\n2. Which links?\nA. <a>b</a>\nB. <p>b</p>"
    assert [options[0] for _, options, _ in read(write(tmp_path, "paper.md", paper))] == [
        "<b>text</b>",
        "<a>b</a>",
    ]


def test_links_and_emphasis_within_stems_are_no_marks(tmp_path: Path) -> None:
    page = write_options(lambda label, text, is_right: f"<br>{label}. <a style='color:blue'>{text}</a>")
    page = page.replace("Which", "<b>Which</b>").replace("\n", "<br>")
    page = page.replace("<br>B. <a style='color:blue'>", "<br>B. <a style='color:#777'>")
    found = read(write(tmp_path, "paper.html", f"<html><body>{page}</body></html>"))
    assert [answer for *_, answer in found] == [[]] * 5


def test_a_table_for_each_question_has_its_number_and_the_shade_of_its_key(tmp_path: Path) -> None:
    shade = '<w:tcPr><w:shd w:val="clear" w:fill="FFFF00"/></w:tcPr>'
    blocks: list[str] = ["Harbour test"]
    for number, (stem, options, key) in enumerate(QUESTIONS, start=1):
        rows = [(str(number), stem), *zip("ABCD", options, strict=True)]
        grid = table(rows).split("<w:tr>")
        right = 2 + "ABCD".index(key)
        grid[right] = grid[right].replace("<w:tcPr/>", shade)
        blocks += ["<w:tr>".join(grid), ""]
    assert read(write(tmp_path, "paper.docx", make_docx(blocks))) == EXPECTED


def test_keys_with_reasons_below_a_title_of_any_words_answer_the_questions(tmp_path: Path) -> None:
    reasons = "".join(
        f"{n}. ({key}) The miller said so.\n" for n, (_, _, key) in enumerate(QUESTIONS, start=1)
    )
    assert read(write(tmp_path, "paper.txt", write_paper(tail=f"\nWhy it is so\n{reasons}"))) == EXPECTED


CONTEST = """Harbour contest

Rules
Instructions:
1. Each team answers in turn.
2. A bell rings after a minute.

★Quick round★
1. Who keeps the lamp? (the keeper)
2. What does the ferry carry? (wool)
3. Where is the fair held? (on the quay)

★Last round★
1. What turns the wheel? (the stream)
2. Name what grinds the corn. (the mill)
3. Who mends the nets? (the fishers)
"""


def test_what_closes_every_stem_in_a_bracket_is_its_answer_and_framed_titles_are_headings(
    tmp_path: Path,
) -> None:
    found = read(write(tmp_path, "paper.txt", CONTEST))
    assert [(stem, answer) for stem, _, answer in found] == [
        ("Who keeps the lamp?", ["the keeper"]),
        ("What does the ferry carry?", ["wool"]),
        ("Where is the fair held?", ["on the quay"]),
        ("What turns the wheel?", ["the stream"]),
        ("Name what grinds the corn.", ["the mill"]),
        ("Who mends the nets?", ["the fishers"]),
    ]


def test_what_some_stems_say_in_a_bracket_is_no_answer(tmp_path: Path) -> None:
    paper = CONTEST.replace(" (wool)", "").replace(" (the mill)", "").replace("(the fishers)", "(2019)")
    found = read(write(tmp_path, "paper.txt", paper))
    assert [answer for *_, answer in found] == [[]] * 6


@pytest.mark.parametrize("form", ["  {}", " - {}", " Ans. {}"])
def test_a_letter_at_the_end_of_every_stem_is_the_key(tmp_path: Path, form: str) -> None:
    assert read(write(tmp_path, "paper.txt", write_paper(end=form.format))) == EXPECTED


@pytest.mark.parametrize(
    "tail",
    [
        "\nKey\n1 A\n2 B\n3 D\n4 C\n5 B\n",
        "\nAnswers: 1–5: A B D C B\n",
        "\n1 2 3 4 5\nA B D C B\n",
        "\nLösungen\n1. A  2. B  3. D  4. C  5. B\n",
        "\n1=A, 2=B, 3=D, 4=C, 5=B\n",
        "\nABDCB\n",
        "\nAnswer Key\nSection A\n1. A\n2. B\n3. D\n4. C\n5. B\n",
        "\nAnswers\nQuestion 1: A - cold\nQuestion 2: B - he does\nQuestion 3: D - soft\nQuestion 4: C - high\nQuestion 5: B - warm\n",
        "\nSolutions\n"
        + "".join(f"{n}. The correct answer is {key}.\n" for n, (_, _, key) in enumerate(QUESTIONS, start=1)),
        "\n答案解析\n"
        + "".join(f"{n}. 解析：此为常识，故选{key}。\n" for n, (_, _, key) in enumerate(QUESTIONS, start=1)),
        "\n| Q | Ans |\n|---|---|\n| 1 | A |\n| 2 | B |\n| 3 | D |\n| 4 | C |\n| 5 | B |\n",
    ],
)
def test_keys_at_the_end_are_read_in_rows_columns_ranges_and_without_a_word(
    tmp_path: Path, tail: str
) -> None:
    assert read(write(tmp_path, "paper.txt", write_paper(tail=tail))) == EXPECTED


STATEMENTS = (
    ("The mill is older than the pier.", "true"),
    ("The keeper lights the lamp at noon.", "false"),
    ("The ferry carries grain.", "true"),
    ("The river rises in the hills.", "true"),
)


@pytest.mark.parametrize(
    "form", ["{n}. {stem} ({key})", "[{key}] {n}. {stem}", "{n}. {stem} - {key}", "{n}. {stem}\n[ {key} ]"]
)
def test_judgements_are_read_in_brackets_at_the_margin_and_below(tmp_path: Path, form: str) -> None:
    lines = [
        form.format(n=number, stem=stem, key=truth[0].upper())
        for number, (stem, truth) in enumerate(STATEMENTS, start=1)
    ]
    found = read(write(tmp_path, "paper.txt", "True or false\n\n" + "\n".join(lines)))
    assert [(stem.removesuffix("（）"), answer) for stem, _, answer in found] == [
        (stem, [truth]) for stem, truth in STATEMENTS
    ]


def test_judgements_that_stand_together_answer_the_questions_above_them(tmp_path: Path) -> None:
    stems = [f"{number}. The mill turned {number} times." for number in range(1, 7)]
    keys = ["[ T ]", "[ F ]", "[ F ]", "[ T ]", "[ F ]", "[ T ]"]
    found = read(write(tmp_path, "paper.txt", "True or false\n\n" + "\n".join([*stems, *keys])))
    assert [answer for _, _, answer in found] == [
        ["true"],
        ["false"],
        ["false"],
        ["true"],
        ["false"],
        ["true"],
    ]


def test_answers_below_their_questions_are_read_where_a_section_has_them(tmp_path: Path) -> None:
    asked = [
        ("What does the miller grind?", "Grain from the hills."),
        ("Who lights the lamp?", "The keeper of the harbour."),
        ("When is the fair?", "On the first Sunday in May."),
        ("Why is the pier of stone?", "The sea took the wooden one."),
    ]
    text = "\n".join(f"{number}. {stem}\n{answer}" for number, (stem, answer) in enumerate(asked, start=1))
    found = read(write(tmp_path, "paper.txt", "Harbour questions\n\n" + text))
    assert [(stem, answer) for stem, _, answer in found] == [(stem, [answer]) for stem, answer in asked]


def test_lines_that_repeat_and_say_no_label_of_the_options_are_no_key(tmp_path: Path) -> None:
    paper = write_paper(lambda n, *_: f"See map {'XYXYX'[n - 1]} of the harbour.")
    assert [answer for _, _, answer in read(write(tmp_path, "paper.txt", paper))] == [[]] * 5


def test_an_option_that_comes_again_in_every_question_is_no_key(tmp_path: Path) -> None:
    lines: list[str] = []
    for number, (stem, options, _) in enumerate(QUESTIONS, start=1):
        offered = [*options[: 2 + number % 2], "None of these"]
        lines += [
            f"{number}. {stem}",
            *(f"{label}. {text}" for label, text in zip("ABCD", offered, strict=False)),
        ]
    found = read(write(tmp_path, "paper.txt", "\n".join(lines)))
    assert [(options[-1], answer) for _, options, answer in found] == [("None of these", [])] * 5


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        ("期末试题", "期末试题答案"),
        ("数字电路期中考试卷", "数字电路期中考试（答案）"),
        ("9618_s23_qp_23", "9618_s23_ms_23"),
        ("2023_harbour_midterm", "2023_Solutions_to_Harbour_Midterm"),
        ("试题", "解析"),
        ("Mock exam 2 harbour", "harbour mock 2 answer key"),
        ("2024年海港联考职测模拟（省直）", "职测模拟（省直）答案"),
    ],
)
def test_a_paper_and_its_key_are_joined_whatever_the_order_of_the_words(
    tmp_path: Path, paper: str, key: str
) -> None:
    write(tmp_path, f"{key}.txt", "1. A\n2. B\n3. D\n4. C\n5. B\n")
    write(tmp_path, "another paper.txt", write_paper())
    write(tmp_path, "another paper key.txt", "1-5 DDDDD\n")
    assert read(write(tmp_path, f"{paper}.txt", write_paper())) == EXPECTED


def test_a_key_beside_its_paper_names_options_by_the_letters_that_label_them_there(tmp_path: Path) -> None:
    lines = [
        "1. Что плывёт?",
        "а) лодка",
        "б) камень",
        "в) гвоздь",
        "2. Что тонет?",
        "а) пробка",
        "б) гвоздь",
        "в) камень",
    ]
    write(tmp_path, "берег тест ключ.txt", "Ключ\n1. а\n2. б, в\n")
    found = read(write(tmp_path, "берег тест.txt", "\n".join(lines)))
    assert [answer for *_, answer in found] == [["A"], ["B", "C"]]
    # of Latin letters those that look alike are no others
    latin = "\n".join(lines).replace("а)", "A)").replace("б)", "B)").replace("в)", "C)")
    write(tmp_path, "море тест ключ.txt", "Ключ\n1. в\n2. б\n")
    found = read(write(tmp_path, "море тест.txt", latin))
    assert [answer for *_, answer in found] == [[], []]


def test_a_key_whose_name_is_the_end_of_two_papers_answers_neither(tmp_path: Path) -> None:
    write(tmp_path, "职测模拟（省直）答案.txt", "1. A\n2. B\n3. D\n4. C\n5. B\n")
    write(tmp_path, "2023年海港联考职测模拟（省直）.txt", write_paper())
    found = read(write(tmp_path, "2024年海港联考职测模拟（省直）.txt", write_paper()))
    assert [answer for *_, answer in found] == [[]] * 5


def test_a_paper_that_is_called_one_with_its_answers_is_no_key(tmp_path: Path) -> None:
    text = "1. 塩の産地を述べよ。\n2. 麦の産地を述べよ。\n解答\n1. 海辺\n2. 平野\n"
    assert [answer for *_, answer in read(write(tmp_path, "社会_中間（解答付）.txt", text))] == [
        ["海辺"],
        ["平野"],
    ]


def test_of_two_keys_of_one_name_none_is_taken_and_both_are_named(tmp_path: Path) -> None:
    from tasks.ingest import IngestOptions, parse_document

    write(tmp_path, "harbour key.txt", "1-5 ABDCB\n")
    write(tmp_path, "harbour answers.txt", "1-5 DDDDD\n")
    parsed = parse_document(write(tmp_path, "harbour.txt", write_paper()), IngestOptions())
    assert [question["answer"] for question in parsed.questions] == [[]] * 5
    assert parsed.document["warnings"] == [
        "2 files beside this paper may hold its answers (harbour answers.txt, harbour key.txt); none was taken. "
        "Leave the right one there."
    ]


def test_a_key_that_fits_another_paper_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path, "harbour key.txt", "21-40 ABCDABCDABCDABCDABCD\n")
    landed = read_landed(write(tmp_path, "harbour.txt", write_paper()))
    assert [question["answer"] for question in landed["questions"]] == [[]] * 5
    assert any("the key of another paper" in warning for warning in landed["document"]["warnings"])


def test_a_paper_printed_again_with_its_answers_answers_the_paper(tmp_path: Path) -> None:
    again = [[stem, *options, key] for stem, options, key in reversed(QUESTIONS)]
    write(
        tmp_path,
        "harbour answers.xlsx",
        make_xlsx({"S": [["Question", "A", "B", "C", "D", "Answer"], *again]}),
    )
    assert read(write(tmp_path, "harbour.txt", write_paper())) == EXPECTED


def test_a_worked_answer_does_not_repeat_its_question(tmp_path: Path) -> None:
    asked = "1. Explain why the mill stands on the hill.\n2. Describe the way of the grain to the ship.\n"
    key = (
        "1. Explain why the mill stands on the hill. (5 marks)\nThe wind is stronger there.\n"
        "2. Describe the way of the grain to the ship.\nAnswer: by cart to the quay.\n"
    )
    write(tmp_path, "harbour solutions.txt", key)
    found = read(write(tmp_path, "harbour.txt", asked))
    assert [answer for _, _, answer in found] == [["The wind is stronger there."], ["by cart to the quay."]]


def test_a_key_that_prints_some_questions_again_is_no_paper(tmp_path: Path) -> None:
    key = (
        "Harbour test: key\n一、单项选择题\n1-5 ABDCB\n二、多项选择题\n1-5 AB ACD BC ABD CD\n"
        "三、简答题\n1. 简述磨坊的历史。\n答：磨坊建于一七〇〇年。\n2. 简述灯塔的作用。\n答：为船只指引方向。\n"
    )
    landed = read_landed(write(tmp_path, "harbour key.txt", key))
    assert landed["questions"] == []
    assert (landed["document"]["status"], landed["document"]["error"]) == (
        "no_questions",
        "The document holds 12 answers and no questions: it is the key of another paper.",
    )


def test_a_paper_with_its_answers_is_no_key_for_the_lists_within_these(tmp_path: Path) -> None:
    text = "Harbour test (answers)\n" + "".join(
        f"{number}. Describe the work of the {who}.\nReference answer: it begins early.\n"
        for number, who in enumerate(("miller", "ferryman", "keeper", "carter", "baker"), start=1)
    )
    steps = "".join(f"{number}. The {number} sacks are loaded onto the cart.\n" for number in range(6, 14))
    landed = read_landed(write(tmp_path, "harbour answers.txt", text + steps))
    assert landed["questions"][4]["stem"] == "Describe the work of the baker."


def test_a_key_is_aligned_with_the_questions_not_with_lists_and_tables_within_answers(tmp_path: Path) -> None:
    asked = (
        "一、计算题\n1. 求磨坊每天磨多少袋。\n2. 按步骤求渡船的载重。\n3. 求船长与渡口。\n"
        "二、简答题\n4. 简述灯塔的作用。\n5. 简述驿站的作用。\n"
    )
    key = (
        "参考答案\n一、计算题\n1. 每天四袋。\n2. 步骤如下：\n1. 称船\n2. 称人\n3. 相加\n3. (1) 老王\n(2) 河东\n(4) 另注\n"
        "二、简答题\n4. 为船指路。\n3 | 5 | 灯\n5 | 7 | 塔\n5. 换马歇脚。\n"
    )
    write(tmp_path, "harbour key.txt", key)
    questions = read_landed(write(tmp_path, "harbour paper.txt", asked))["questions"]
    assert [q["answer"] for q in questions] == [
        ["每天四袋。"],
        ["步骤如下：\n1. 称船\n2. 称人\n3. 相加"],
        ["(1) 老王\n(2) 河东\n(4) 另注"],
        ["为船指路。\n3 | 5 | 灯\n5 | 7 | 塔"],
        ["换马歇脚。"],
    ]


def test_answers_below_numbers_of_problems_answer_the_parts_of_these(tmp_path: Path) -> None:
    paper = "一、填空题\n（1）风从____来。\n（2）盐从____来。\n二、计算题\n（1）求袋数。\n（2）求船数。\n三、简答题\n（1）简述渡口的历史。\n"
    key = "第一题\n（1）北方\n（2）海边\n第二题\n（1）四袋\n（2）两艘\n第三题\n（1）很久以前就有。\n"
    write(tmp_path, "harbour key.txt", key)
    questions = read_landed(write(tmp_path, "harbour paper.txt", paper))["questions"]
    assert [q["answer"] for q in questions] == [["北方"], ["海边"], ["四袋"], ["两艘"], ["很久以前就有。"]]


def test_a_key_of_another_version_answers_only_what_it_prints_again(tmp_path: Path) -> None:
    stems = [f"简述{place}的历史和它今天的作用。" for place in ("磨坊", "灯塔", "渡口", "驿站")]
    choices = "".join(
        f"{number}. {thing}用来做什么？（ ）\nA. 磨面 B. 照明 C. 过河 D. 送信\n"
        for number, thing in enumerate(("风车", "灯", "船", "马", "水车"), start=1)
    )
    asked = "".join(f"{number}. {stem}\n" for number, stem in enumerate(stems, start=1))
    key = "1. 简述水车的历史和它今天的作用。\n水车很老。\n" + "".join(
        f"{number}. {stem}\n{stem[2:4]}很老。\n" for number, stem in enumerate(stems[:3], start=2)
    )
    write(tmp_path, "harbour key.txt", f"一、选择题\n1-5 DCBAD\n二、简答题\n{key}")
    landed = read_landed(write(tmp_path, "harbour paper.txt", f"一、选择题\n{choices}二、简答题\n{asked}"))
    answers = [q["answer"] for q in landed["questions"]]
    assert answers == [*([[]] * 5), ["磨坊很老。"], ["灯塔很老。"], ["渡口很老。"], []]
    assert any("the key of another" in one for one in landed["document"]["warnings"])


def test_an_answer_part_ends_where_the_choice_questions_of_another_paper_begin(tmp_path: Path) -> None:
    def write_choices(things: tuple[str, ...]) -> str:
        return "".join(
            f"{number}. {thing}用来做什么？（ ）\nA. 磨面\nB. 照明\nC. 过河\nD. 送信\n"
            for number, thing in enumerate(things, start=1)
        )

    paper = (
        f"一、选择题\n{write_choices(('风车', '灯', '船'))}二、简答题\n1. 简述磨坊的历史。\n参考答案\n"
        f"一、选择题\n1-3 ABC\n二、简答题\n1. 磨坊很老。\n"
        f"一、选择题\n{write_choices(('驿马', '渡船', '水车'))}参考答案\n1-3 DCA\n"
    )
    questions = read_landed(write(tmp_path, "papers.txt", paper))["questions"]
    assert [q["answer"] for q in questions] == [["A"], ["B"], ["C"], ["磨坊很老。"], ["D"], ["C"], ["A"]]


def test_a_letter_with_its_reason_in_a_bracket_is_a_key(tmp_path: Path) -> None:
    found = read(
        write(tmp_path, "paper.txt", write_paper(lambda _, key, text: f"答案：{key}（{text}最合适）"))
    )
    assert found == EXPECTED


def test_rows_for_the_parts_of_a_question_answer_that_question(tmp_path: Path) -> None:
    asked = "1. Explain how the mill works.\n2. Describe the way of the grain.\n3. State the length of the pier.\n"
    key = (
        "Question | Answer | Marks\n1(a) | The wind turns it. | 2\n1(b) | Not in winter. | 1\n"
        "2 | By cart to the quay. | 3\n3(a) | Forty metres. | 1\n"
    )
    write(tmp_path, "harbour ms.txt", key)
    questions = read_landed(write(tmp_path, "harbour qp.txt", asked))["questions"]
    assert [q["answer"] for q in questions] == [
        ["(a) The wind turns it.\n(b) Not in winter."],
        ["By cart to the quay."],
        ["(a) Forty metres."],
    ]


_TASKS = (
    "1. A stone falls from a tower of 20 m. Find its speed at the ground.\n"
    "2. Two carts of 3 kg meet and stay together. Calculate the loss of energy.\n"
    "3. A spring of 40 N/m carries 2 kg. Determine the period.\n"
)
_TOPICS = "二、简答题\n1. 磨坊的历史和作用\n2. 灯塔的种类\n3. 渡船的用途\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # a name that holds a word of keys
        ("MS Excel exam", f"Harbour test\n{_TASKS}"),
        ("harbour answer sheet", f"Harbour test\n{_TASKS}"),
        ("Key concepts exam", "Harbour test\n一、名词解释\n1. 磨坊\n2. 灯塔\n3. 渡船\n"),
        # a paper that holds its answers, of which none was read
        ("海港试题附答案", f"Harbour test\n{_TOPICS}"),
        ("harbour test with answers", f"Harbour test\n{_TOPICS}"),
        # lines that tell how to answer
        ("harbour", f"海港期末试卷\n请选择正确答案\n{_TOPICS}"),
        ("harbour", f"海港期末试卷\n请在答题纸上写出答案\n{_TOPICS}"),
        ("harbour", f"Harbour test\nAnswers to all questions must be written in ink\n{_TASKS}"),
    ],
)
def test_a_paper_that_only_speaks_of_answers_is_no_key(tmp_path: Path, name: str, text: str) -> None:
    assert len(read(write(tmp_path, f"{name}.txt", text))) == 3


@pytest.mark.parametrize("beside", ["1. Name the mill.\n2. Name the ship.\n" * 9, "Harbour test"])
def test_whole_questions_with_their_answers_are_kept_whatever_stands_beside(
    tmp_path: Path, beside: str
) -> None:
    from tasks.ingest import IngestOptions, parse_document

    write(tmp_path, "harbour.txt", beside)
    key = write(tmp_path, "harbour key.txt", write_paper(answer=lambda *of: f"Answer: {of[-1]}"))
    assert len(parse_document(key, IngestOptions()).questions) == 5


def test_a_key_is_not_compared_with_a_paper_of_which_no_text_was_read(tmp_path: Path) -> None:
    from tasks.ingest import IngestOptions, parse_document

    write(tmp_path, "harbour.txt", "Harbour test\n")
    key = write(tmp_path, "harbour key.txt", write_paper())
    assert len(parse_document(key, IngestOptions()).questions) == 5


@pytest.mark.parametrize("paper", make_papers(), ids=lambda paper: f"{paper.mark} in {paper.suffix}")
def test_no_key_stays_in_what_a_candidate_reads_whatever_marks_it(tmp_path: Path, paper: Paper) -> None:
    path = tmp_path / f"paper.{paper.suffix}"
    path.write_bytes(paper.content)
    found = read(path)
    assert [(stem, options) for stem, options, _ in found] == [one[:2] for one in paper.truth]
    assert [answer for _, _, answer in found] in ([key for _, _, key in paper.truth], [[]] * len(found))


def test_the_other_of_two_marks_goes_too_and_quantities_keep_their_signs(tmp_path: Path) -> None:
    marked = write_paper(mark=lambda text: f"{text} (yes)").replace("none", "none (no)")
    assert read(write(tmp_path, "paper.txt", marked))[1] == EXPECTED[1]
    lines = [f"{n}. What is {n} - {2 * n}?\nA. -{n}\nB. {n}\nC. +{2 * n}\nD. {3 * n}" for n in range(3, 11)]
    found = read(write(tmp_path, "sums.txt", "\n".join(lines)))
    assert [options[0] for _, options, _ in found] == [f"-{n}" for n in range(3, 11)]


def test_a_paper_whose_marks_contradict_its_key_is_held_for_them(tmp_path: Path) -> None:
    wrong = {"A": "C", "B": "D", "C": "A", "D": "B"}
    lines: list[str] = []
    for number, (stem, options, key) in enumerate(QUESTIONS, start=1):
        lines.append(f"{number}. {stem}")
        lines += [
            f"{label}. {text}{' ✓' if label == wrong[key] else ''}"
            for label, text in zip("ABCD", options, strict=True)
        ]
        lines.append(f"Answer: {key}")
    read_paper = read_landed(write(tmp_path, "paper.txt", "\n".join(lines)))
    assert read_paper["document"]["status"] == "held"
    assert "Candidates would read its keys. 5 questions show" in read_paper["document"]["error"]
    assert all("key_shown" in question["parse_notes"] for question in read_paper["questions"])


def test_a_single_question_that_shows_its_key_is_warned_of_and_goes_to_review(tmp_path: Path) -> None:
    paper = write_paper(lambda _, key, __: f"Answer: {key}").replace("the keeper", "the keeper ✓")
    paper = paper.replace("What is carried by the ferry?", "What is carried by the ferry? (wool)")
    found = read_landed(write(tmp_path, "paper.txt", paper))
    noted = [question for question in found["questions"] if "key_shown" in question["parse_notes"]]
    assert [(one["number_label"], one["status"]) for one in noted] == [
        ("2.", "low_confidence"),
        ("3.", "low_confidence"),
    ]
    assert "2 questions may show their key in stem or options (2., 3.)." in found["document"]["warnings"]


def test_a_mark_scheme_in_which_nothing_asks_gives_no_question(tmp_path: Path) -> None:
    answers = ("The wind drives its sails.", "The keeper lights it at dusk.", "It carries salt.")
    parts = (f"Q{n}\nMarked by: Ada Miller\nSample Answer\n{one}\n" for n, one in enumerate(answers, 1))
    assert read(write(tmp_path, "mid_key.txt", "Midsem Solutions\n" + "".join(parts))) == []


@pytest.mark.parametrize(
    ("header", "worth", "title"),
    [
        ("Question     Answer     Marks", "4", "MARK SCHEME"),
        ("Nummer     Lösung     Punkte", "3", "Lösungen"),
    ],
)
def test_a_key_of_tables_is_read_without_their_headers_and_marks(
    tmp_path: Path, header: str, worth: str, title: str
) -> None:
    asked = (
        "1. Explain how the mill turns.\n2. Explain how the lamp burns.\n3. Explain how the ferry crosses.\n"
    )
    key = (
        f"{title}\n{header}\n1     One mark for each part.\n{worth}\nThe wind turns it.\n"
        f"{header}\n{worth}\n2     Oil and a wick.\n{header}\n2     Example: whale oil.\n3     By a rope. 4\n"
    )
    write(tmp_path, "harbour key.txt", key)
    questions = read_landed(write(tmp_path, "harbour paper.txt", asked))["questions"]
    assert [q["answer"] for q in questions] == [
        ["One mark for each part.\nThe wind turns it."],
        ["Oil and a wick.\nExample: whale oil."],
        ["By a rope. 4"],
    ]


@pytest.mark.parametrize("mark", ["Sample Answer", "参考答案", "Musterlösung"])
def test_an_answer_begins_below_its_own_title(tmp_path: Path, mark: str) -> None:
    asked = "Q1. Explain how the mill turns.\nQ2. Explain how the lamp burns.\n"
    key = "".join(f"Q{one}\nMarked by: the miller\n{mark}\n1. Oil.\n2. Wind.\n" for one in (1, 2))
    write(tmp_path, "harbour key.txt", f"Midterm\n{key}")
    questions = read_landed(write(tmp_path, "harbour paper.txt", asked))["questions"]
    assert [q["answer"] for q in questions] == [["1. Oil.\n2. Wind."]] * 2


@pytest.mark.parametrize("head", ["Harbour 0620 Answers", "Mark scheme", "Lösungen"])
def test_a_running_head_says_that_a_document_is_a_key(tmp_path: Path, head: str) -> None:
    pages = [
        [
            (50, 800, f"{head}  -  page {one}"),
            (50, 760, f"Question 0{one}"),
            (50, 740, f"{one}(a)  the wind, from the sea"),
        ]
        for one in range(1, 6)
    ]
    landed = read_landed(write(tmp_path, "harbour.pdf", make_pdf(pages)))
    assert (landed["document"]["status"], landed["questions"]) == ("no_questions", [])


def test_a_row_below_the_header_of_a_further_section_is_no_rest_of_the_one_before(tmp_path: Path) -> None:
    header = "Question     Answer     Marks"
    asked = "Section A\n1. Explain the mill.\nSection B\n1. Explain the lamp.\n2. Explain the ferry.\n"
    key = f"Section A\n{header}\n1     It turns. 2\nSection B\n{header}\n1     It burns. 2\n2     It crosses. 4\n"
    write(tmp_path, "harbour key.txt", key)
    questions = read_landed(write(tmp_path, "harbour paper.txt", asked))["questions"]
    assert [q["answer"][0].removeprefix("1 ") for q in questions if q["answer"]] == [
        "It turns. 2",
        "It burns. 2",
        "It crosses. 4",
    ]


@pytest.mark.parametrize(
    "head", ["Harbour Learning Solutions", "Questions & Answers", "Aufgaben und Lösungen", "Answer Booklet"]
)
def test_a_paper_whose_running_head_names_more_than_answers_is_no_key(tmp_path: Path, head: str) -> None:
    rows = ["Short answer questions (20 points)", "Male ein Boot.", "Miss den Kai.", "Ordne die Netze."]
    pages = [
        [
            (50, 800, head),
            *(
                (50, 760 - 20 * place, f"{place + 3 * page}. {text}" if place else text)
                for place, text in enumerate(rows)
                if place or not page
            ),
        ]
        for page in range(3)
    ]
    landed = read_landed(write(tmp_path, "harbour.pdf", make_pdf(pages)))
    assert [question["stem"] for question in landed["questions"]] == rows[1:]


@pytest.mark.parametrize("mark", ["答案要点：\n", "答：", "参考答案:\n", ""])
def test_a_question_printed_again_goes_with_the_mark_of_its_answer(mark: str) -> None:
    asked = "简述水车和风车的三点差异。"
    assert cut_echo(f"{asked}\n{mark}水车靠水转动。", asked) == "水车靠水转动。"


def test_a_question_printed_again_in_another_language_is_a_remark_and_no_answer() -> None:
    def ask(word: str, shift: int = 0) -> list[Draft]:
        return [
            Draft(value=at, answer=[f"{word} {at + shift}: Kya hai"], notes=["answer_without_mark"])
            for at in (1, 2, 3)
        ]

    again = ask("Prashn")
    keep_translations(again)
    assert [(draft.answer, draft.notes, draft.explanation) for draft in again] == [
        ([], [], f"Prashn {at}: Kya hai") for at in (1, 2, 3)
    ]
    for others in (ask("Answer"), ask("Figure", shift=4), ask("Prashn")[:2]):
        keep_translations(others)
        assert all(draft.answer for draft in others)


def _list_pieces(lines: Sequence[str]) -> list[Piece]:
    return [
        Piece(line, 100 * at, 100 * at + len(line), range(100 * at, 100 * at + len(line)))
        for at, line in enumerate(lines)
    ]


_PARTS = ("写出船在渡口的用途", "写出磨坊在村里的用途", "写出渡口的用途")


def test_answers_that_print_the_parts_of_one_question_again_are_no_answer_part() -> None:
    said = [f"因为河水推动第{place}个叶片。" for place in range(30)]
    answered = [
        line
        for number, name in enumerate(("水车", "灯塔"), 1)
        for line in (f"{number}. {name}为什么转动？", "参考答案：", *said)
    ]
    parts = [f"{number}、{part}（2分）" for number, part in enumerate(_PARTS, 1)]
    again = [f"{number}、{part}：供人使用。" for number, part in enumerate(_PARTS, 1)]
    other = [f"{number}、供人使用{number}次。" for number, _ in enumerate(_PARTS, 1)]
    head, below = [*answered, "二、综合题", "渡口有一艘木船。", *parts], ["三、论述题", "请谈谈渡口。"]
    assert find_region(_list_pieces([*head, "参考答案", *again, *below])) is None
    assert find_region(_list_pieces([*head, "参考答案", *other, *below])) == len(head)


@pytest.mark.parametrize(("count", "are_keys"), [(1, False), (3, True)])
def test_the_numbers_of_a_section_that_asks_once_are_parts_of_its_question(
    count: int, are_keys: bool
) -> None:
    lines = [f"{number}. {part}" for number, part in enumerate(_PARTS, 1)]
    answers = ["参考答案：", *(f"{number}. 供人使用。" for number, _ in enumerate(_PARTS, 1))]
    section = Section(
        number=2, heading=f"二、综合题（共{count}小题，共6分）", pieces=_list_pieces([*lines, *answers])
    )
    keys: list[KeyPart] = []
    kept = take_key_lines(section, 1, keys)
    assert (len(kept), bool(keys)) == (len(lines) if are_keys else len(section.pieces), are_keys)


def test_keys_that_name_none_of_the_options_show_no_badge() -> None:
    drafts = [
        Draft(stem=f"Which {n}?", options=[("A", "mill"), ("B", "lamp")], answer=["E"]) for n in range(5)
    ]
    cut_badges(drafts)
    assert all(draft.options == [("A", "mill"), ("B", "lamp")] for draft in drafts)
