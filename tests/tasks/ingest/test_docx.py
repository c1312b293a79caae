"""Word packages: what Word shows is what is read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.errors import DocumentError
from tasks.ingest.content.questions import make_questions
from tasks.ingest.readers.docx import read_docx
from tasks.ingest.readers.extraction import Look, join_lines
from tasks.ingest.readers.numbering import chinese_number, format_number
from tasks.ingest.splitting import split_lines
from tests.tasks.ingest.builders import M, W, make_docx, make_zip, numbering, paragraph, run, table


def texts(data: bytes) -> list[str]:
    return [line.text for line in read_docx(data).lines if line.text.strip()]


def test_automatic_numbers_are_printed_exactly_and_lower_levels_restart() -> None:
    lists = numbering(
        [
            [("chineseCountingThousand", "%1、"), ("decimal", "%2."), ("decimal", "（%3）")],
            [("upperLetter", "%1．")],
        ]
    )
    data = make_docx(
        [
            paragraph("单选题", number=(1, 0)),
            paragraph("甲", number=(1, 1)),
            paragraph("子", number=(2, 0)),
            paragraph("丑", number=(2, 0)),
            paragraph("乙", number=(1, 1)),
            paragraph("小问", number=(1, 2)),
            paragraph("简答题", number=(1, 0)),
            paragraph("丙", number=(1, 1)),
        ],
        {"numbering.xml": lists},
    )
    assert texts(data) == [
        "一、 单选题",
        "1. 甲",
        "A． 子",
        "B． 丑",
        "2. 乙",
        "（1） 小问",
        "二、 简答题",
        "1. 丙",
    ]


def test_a_list_instance_with_a_start_override_starts_over() -> None:
    override = (
        '<w:num w:numId="7"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="11"/></w:lvlOverride></w:num>'
    )
    data = make_docx(
        [
            paragraph("a", number=(1, 0)),
            paragraph("b", number=(1, 0)),
            paragraph("c", number=(7, 0)),
            paragraph("d", number=(7, 0)),
        ],
        {"numbering.xml": numbering([[("decimal", "%1.")]], override)},
    )
    assert texts(data) == ["1. a", "2. b", "11. c", "12. d"]


def test_numbers_given_by_a_style_count() -> None:
    styles = (
        f'<w:styles xmlns:w="{W}"><w:style w:styleId="Q"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Q2"><w:basedOn w:val="Q"/></w:style></w:styles>'
    )
    data = make_docx(
        [paragraph("a", style="Q"), paragraph("b", style="Q2"), paragraph("c")],
        {"numbering.xml": numbering([[("decimal", "%1)")]]), "styles.xml": styles},
    )
    assert texts(data) == ["1) a", "2) b", "c"]


def test_hidden_and_deleted_text_is_left_out_and_inserted_text_kept() -> None:
    deleted = f"<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>{run('new')}</w:ins>"
    data = make_docx([paragraph(run("seen "), run("secret", "<w:vanish/>"), deleted)])
    assert texts(data) == ["seen new"]


def test_superscripts_subscripts_and_blanks_survive() -> None:
    data = make_docx(
        [
            paragraph(
                "10",
                run("-3", '<w:vertAlign w:val="superscript"/>'),
                " mol H",
                run("2", '<w:vertAlign w:val="subscript"/>'),
                "O",
            ),
            paragraph("x", run("max", '<w:vertAlign w:val="subscript"/>')),
            paragraph("首都是", run("      ", '<w:u w:val="single"/>'), "。"),
        ]
    )
    assert texts(data) == ["10⁻³ mol H₂O", "x_{max}", "首都是______。"]


def test_formulas_become_latex() -> None:
    def text(value: str) -> str:
        return f"<m:r><m:t>{value}</m:t></m:r>"

    fraction = (
        f"<m:f><m:num>{text('1')}</m:num><m:den><m:rad><m:deg/><m:e>{text('x')}</m:e></m:rad></m:den></m:f>"
    )
    power = f"<m:sSup><m:e>{text('e')}</m:e><m:sup>{text('2x')}</m:sup></m:sSup>"
    integral = f"<m:nary><m:sub>{text('0')}</m:sub><m:sup>{text('1')}</m:sup><m:e>{text('f')}</m:e></m:nary>"
    data = make_docx(
        [f'<w:p><w:r><w:t>y=</w:t></w:r><m:oMath xmlns:m="{M}">{fraction}{power}{integral}</m:oMath></w:p>']
    )
    assert texts(data) == [r"y=\frac{1}{\sqrt{x}}e^{2x}\int_{0}^{1} f"]


def test_text_boxes_are_read_once_behind_their_paragraph() -> None:
    inside = paragraph("in the box")
    box = (
        "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>"
        f"{inside}</w:txbxContent></wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox><w:txbxContent>{inside}</w:txbxContent></v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    data = make_docx([f"<w:p>{run('before')}{box}</w:p>", "after"])
    assert texts(data) == ["before", "in the box", "after"]


@pytest.mark.parametrize(
    ("top", "width", "wrap", "expected"),
    [
        (-393_700, 1_320_800, "wrapNone", ["in the box", "beside it"]),
        (-393_700, 1_320_800, "wrapSquare", ["in the box", "beside it"]),
        (635, 5_289_550, "wrapSquare", ["in the box", "beside it"]),
        (635, 1_320_800, "wrapTopAndBottom", ["in the box", "beside it"]),
        (635, 1_320_800, "wrapSquare", ["beside it", "in the box"]),
        (900_000, 5_289_550, "wrapSquare", ["beside it", "in the box"]),
    ],
)
def test_a_text_box_printed_above_its_paragraph_is_read_before_it(
    top: int, width: int, wrap: str, expected: list[str]
) -> None:
    box = (
        "<w:r><w:drawing><wp:anchor xmlns:wp='urn:wp'><wp:positionV relativeFrom='paragraph'>"
        f"<wp:posOffset>{top}</wp:posOffset></wp:positionV><wp:extent cx='{width}' cy='177800'/><wp:{wrap}/>"
        f"<wps:txbx><w:txbxContent>{paragraph('in the box')}</w:txbxContent></wps:txbx></wp:anchor></w:drawing></w:r>"
    )
    assert texts(make_docx([f"<w:p>{run('beside it')}{box}</w:p>"])) == expected


def test_an_old_text_box_printed_above_its_paragraph_is_read_before_it() -> None:
    box = (
        "<w:r><w:pict><v:shape style='position:absolute;margin-left:180pt;margin-top:-28pt;width:94pt;height:13pt'>"
        f"<v:textbox><w:txbxContent>{paragraph('in the box')}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    assert texts(make_docx([f"<w:p>{run('beside it')}{box}</w:p>"])) == ["in the box", "beside it"]


def test_a_title_in_the_cell_of_a_form_heads_its_section() -> None:
    form = ["得分", "评卷人"]
    data = make_docx(
        [
            table([[*form, "一、填空题（每题2分，共4分）"]]),
            "1．桥由____组成。",
            "2．墩是____。",
            table([[*form, "二、简答题（每题6分，共12分）"]]),
            "1．什么是桁架？",
            "2．什么是拱？",
        ]
    )
    lines = read_docx(data).lines
    _, starts, _ = join_lines(lines)
    drafts = split_lines(lines, starts).drafts
    assert [(draft.question_type, draft.stem, draft.marks) for draft in drafts] == [
        ("fill_in_the_blank", "桥由____组成。", 2.0),
        ("fill_in_the_blank", "墩是____。", 2.0),
        ("short_answer", "什么是桁架？", 6.0),
        ("short_answer", "什么是拱？", 6.0),
    ]


def test_tables_are_rows_and_layout_tables_are_lines() -> None:
    data = make_docx([table([["T1", "T2"], ["S(B)", "X(A)"]]), table([["1. 甲是（ ）"], ["A. 子"]])])
    lines = [(line.kind, line.text) for line in read_docx(data).lines]
    assert lines == [
        ("table", "T1 | T2"),
        ("table", "S(B) | X(A)"),
        ("body", "1. 甲是（ ）"),
        ("body", "A. 子"),
    ]


_ASKED = [
    ("Where does the ferry land?", "A. at the pier B. at the mill C. at the inn", "A"),
    ("Who keeps the lamp?", "A. the baker B. the miller C. the warden", "C"),
    ("When does the bell ring?", "A. at dawn B. at noon C. at dusk", "B"),
    ("What does the mill grind?", "A. salt B. barley C. oats", "B"),
]


def read_answers(*blocks: str) -> list[tuple[str, int, list[str]]]:
    """The question, how many options it has, and the answer, of each draft."""
    lines = read_docx(make_docx(blocks)).lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    return [(draft.stem.rstrip("( )（）"), len(draft.options), draft.answer) for draft in drafts]


@pytest.mark.parametrize(
    "lay",
    [
        lambda number, asked, key: [[f"（ {key} ）", f"{number}. {asked}"]],
        lambda number, asked, key: [[key, f"{number}. {asked}"]],
        lambda number, asked, key: [[f"{number}. {asked}", key]],
    ],
    ids=["in brackets", "before the question", "behind the question"],
)
def test_a_key_in_a_cell_beside_a_numbered_question_is_its_own(
    lay: Callable[[int, str, str], list[list[str]]],
) -> None:
    rows = [
        row
        for number, (stem, options, key) in enumerate(_ASKED, start=1)
        for row in lay(number, f"{stem} {options}", key)
    ]
    assert read_answers("Harbour quiz", table(rows)) == [(stem, 3, [key]) for stem, _, key in _ASKED]


def test_questions_in_rows_of_one_filled_cell_are_lines_and_so_are_those_of_a_table_each() -> None:
    key = "Answers: " + " ".join(f"{number}. {key}" for number, (*_, key) in enumerate(_ASKED, start=1))
    beside = [
        ["", f"{number}. {stem} {options}"] for number, (stem, options, _) in enumerate(_ASKED, start=1)
    ]
    apart = [
        block
        for number, (stem, options, _) in enumerate(_ASKED, start=1)
        for block in (table([[f"{number}. {stem}", ""], options.replace(" B.", "|B.").split("|")]), "")
    ]
    expected = [(stem, 3, [key]) for stem, _, key in _ASKED]
    assert read_answers("Harbour quiz", table(beside), key) == expected
    assert read_answers("Harbour quiz", *apart, key) == expected


def test_numbered_rows_of_a_table_that_a_numbered_question_shows_are_no_questions() -> None:
    steps = table([["", "1. Fill the lamp."], ["", "2. Trim the wick."], ["", "3. Light it."]])
    found = read_answers(
        "1. Where does the ferry land?",
        "2. What do the three steps below do?",
        steps,
        "3. Who rings the bell?",
    )
    assert [stem.partition("\n")[0] for stem, _, _ in found] == [
        "Where does the ferry land?",
        "What do the three steps below do?",
        "Who rings the bell?",
    ]


def test_footnotes_symbols_and_circled_fields_are_read() -> None:
    notes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2"><w:p><w:r><w:t>见教材</w:t></w:r></w:p></w:footnote></w:footnotes>'
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>eq \\o\\ac(○,3)</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    data = make_docx(
        [
            f'<w:p>{run("甲")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>',
            '<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r><w:r><w:sym w:font="Symbol" w:char="F061"/></w:r></w:p>',
            f"<w:p>{field}{run('乙')}</w:p>",
        ],
        {"footnotes.xml": notes},
    )
    assert texts(data) == ["甲[注：见教材]", "√α", "③乙"]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (r"eq \f(1,2)", r"\frac{1}{2}"),
        (r"eq \f((a+b)(c),2)", r"\frac{(a+b)(c)}{2}"),
        (r"eq \r(3,8)", r"\sqrt[3]{8}"),
        (r"eq \f(x\s\up6(2),2)", r"\frac{x²}{2}"),
        (r"eq \f(1,2)mv\o\al(2,0)", r"\frac{1}{2}mv²₀"),
        (r"eq \o(AB,\s\up6(→))", r"\overrightarrow{AB}"),
        (r"eq \o(=====,\s\up7(△))", "=====^△"),
        (r"eq \b\lc\{(\a\al(x+y=1,x-y=3))", r"\left\{\begin{matrix}x+y=1 \\ x-y=3\end{matrix}\right."),
        (r"eq \b\bc\|(x-1)", "|x-1|"),
        (r"eq \a\al(x+y=1，,x-y=3.)", r"\begin{matrix}x+y=1， \\ x-y=3.\end{matrix}"),
        (r"eq \i\su(n=1,5,n)", r"\sum_{n=1}^{5} n"),
        (r"eq \x\to(AB)", r"\overline{AB}"),
        (r"eq f\(x\)", "f(x)"),
        (r'EQ \* jc2 \* "Font:宋体" \* hps10 \o\ad(\s\up 9(kāng),慷)', "慷(kāng)"),
        (r"eq \f(1,", r"\frac{1}{}"),
    ],
)
@pytest.mark.parametrize("separate", ["", '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'])
def test_equation_fields_are_shown_whether_or_not_they_have_an_empty_result(
    code: str, shown: str, separate: str
) -> None:
    field = (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{code}</w:instrText></w:r>{separate}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert texts(make_docx([f"<w:p>{run('甲')}{field}{run('乙')}</w:p>"])) == [f"甲{shown}乙"]


def test_the_result_of_an_equation_field_is_shown_once_and_scripts_in_its_code_stay() -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:instrText>2</w:instrText></w:r>'
    begin, separate, end = (
        f'<w:r><w:fldChar w:fldCharType="{step}"/></w:r>' for step in ("begin", "separate", "end")
    )
    code = f"<w:r><w:instrText>eq \\f(v</w:instrText></w:r>{raised}<w:r><w:instrText>,2a)</w:instrText></w:r>"
    data = make_docx(
        [f"<w:p>{begin}{code}{separate}{end}</w:p>", f"<w:p>{begin}{code}{separate}{run('v/2a')}{end}</w:p>"]
    )
    assert texts(data) == [r"\frac{v²}{2a}", "v/2a"]


def test_the_sound_above_a_word_stands_in_brackets_behind_it() -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('kāng')}</w:rt><w:rubyBase>{run('慷')}</w:rubyBase></w:ruby></w:r>"
    assert texts(make_docx([f"<w:p>{ruby}{run('慨')}</w:p>"])) == ["慷(kāng)慨"]


def test_a_control_that_shows_what_to_click_is_a_blank() -> None:
    control = (
        "<w:sdt><w:sdtPr>{0}</w:sdtPr><w:sdtContent>" + run("Choose an item.") + "</w:sdtContent></w:sdt>"
    )
    data = make_docx([paragraph("1. It is ", control.format(empty)) for empty in ("<w:showingPlcHdr/>", "")])
    assert texts(data) == ["1. It is ____", "1. It is Choose an item."]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("1", "2", "3"), ["I keep a __1__ shop.", "He has __2__ cows.", "It is __3__ now."]),
        (("4", "2", "7"), ["I keep a   4   shop.", "He has   2   cows.", "It is   7   now."]),
    ],
    ids=["the numbers of a cloze run on", "what is filled in does not"],
)
def test_underlined_numbers_that_run_on_are_blanks(numbers: tuple[str, ...], expected: list[str]) -> None:
    around = [("I keep a ", " shop."), ("He has ", " cows."), ("It is ", " now.")]
    data = make_docx(
        [
            paragraph(before, run(f"  {number}  ", '<w:u w:val="single"/>'), after)
            for number, (before, after) in zip(numbers, around, strict=True)
        ]
    )
    assert texts(data) == expected


def test_a_note_that_holds_the_answer_answers_its_question() -> None:
    notes = "".join(
        f'<w:endnote w:id="{at}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:endnote>'
        for at, text in enumerate(("答案：B", "答案：A。见教材。"), start=1)
    )
    asked = [
        f'<w:p>{run(f"{at}．{stem}（ ）")}<w:r><w:endnoteReference w:id="{at}"/></w:r></w:p>'
        for at, stem in enumerate(("我国第一大岛是", "我国最长的河流是"), start=1)
    ]
    options = ("A．海南岛   B．台湾岛   C．崇明岛", "A．长江   B．黄河   C．珠江")
    data = make_docx(
        [asked[0], options[0], asked[1], options[1]],
        {"endnotes.xml": f'<w:endnotes xmlns:w="{W}">{notes}</w:endnotes>'},
    )
    lines = read_docx(data).lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    assert [(draft.stem, draft.answer) for draft in drafts] == [
        ("我国第一大岛是（）", ["B"]),
        ("我国最长的河流是（）", ["A"]),
    ]


def test_strict_packages_read_like_transitional_ones() -> None:
    data = make_docx(["严格"])
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as package:
        files = {name: package.read(name) for name in package.namelist()}
    files["word/document.xml"] = files["word/document.xml"].replace(
        W.encode(), b"http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    assert texts(make_zip(files)) == ["严格"]


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ({"word/document.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}, "corrupt"),
        ({"word/document.xml": "<w:document"}, "corrupt"),
        ({"other.xml": "<a/>"}, "corrupt"),
    ],
    ids=["a document type", "broken markup", "no main part"],
)
def test_bad_packages_are_refused_by_name(case: dict[str, str | bytes], code: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_docx(make_zip(case))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (12, "chineseCountingThousand", "十二"),
        (105, "chineseCounting", "一百零五"),
        (4, "upperRoman", "IV"),
        (28, "lowerLetter", "bb"),
        (3, "decimalEnclosedCircle", "③"),
        (7, "decimalZero", "07"),
        (2, "ideographTraditional", "乙"),
        (21, "ordinal", "21st"),
        (5, "aFormatNobodyKnows", "5"),
    ],
)
def test_number_formats_are_written_as_word_does(value: int, form: str, expected: str) -> None:
    assert format_number(value, form) == expected


def test_chinese_numbers_beyond_ten_thousand_stay_arabic() -> None:
    assert chinese_number(10_000) == "10000"


def test_pictures_and_formula_objects_leave_a_mark_where_they_stood() -> None:
    formula = (
        '<w:r><w:object><v:shape><v:imagedata/></v:shape><o:OLEObject xmlns:o="urn:o" ProgID="Equation.DSMT4"/>'
        "</w:object></w:r>"
    )

    def picture(height: int) -> str:
        return (
            f'<w:r><w:drawing><wp:inline xmlns:wp="urn:wp"><wp:extent cx="1905000" cy="{height}"/>'
            '<a:graphic xmlns:a="urn:a"><a:blip/></a:graphic></wp:inline></w:drawing></w:r>'
        )

    data = make_docx(
        [
            "一、选择题",
            paragraph("1. 函数", formula, "的定义域是（ ）"),
            "A. 实数集 B. 空集 C. 正数集 D. 负数集",
            "2. 波形为正弦的是（ ）",
            "A. 甲 B. 乙 C. 丙 D. 丁",
            paragraph(picture(952_500)),
            paragraph(picture(12_700)),  # a rule
        ]
    )
    lines = read_docx(data).lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    assert [draft.stem for draft in drafts] == ["函数[formula]的定义域是（）", "波形为正弦的是（）\n[image]"]
    assert [text for _, text in drafts[1].options] == ["甲", "乙", "丙", "丁"]
    document = dict.fromkeys(("document_id", "document_name", "source_kind", "discipline", "sub_discipline"))
    questions, _ = make_questions(drafts, document, "zh")
    assert [question["parse_notes"] for question in questions] == [
        ["embedded_formula_lost"],
        ["needs_figure"],
    ]


def test_an_empty_paragraph_of_a_list_is_counted() -> None:
    data = make_docx(
        [paragraph("a", number=(1, 0)), paragraph("", number=(1, 0)), paragraph("b", number=(1, 0))],
        {"numbering.xml": numbering([[("decimal", "%1.")]])},
    )
    assert texts(data) == ["1. a", "3. b"]


def test_a_line_knows_how_it_is_printed() -> None:
    """Size and weight come from run, style or the document's own defaults; the indent in points."""
    styles = (
        f'<w:styles xmlns:w="{W}"><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="21"/></w:rPr></w:rPrDefault>'
        '</w:docDefaults><w:style w:type="paragraph" w:styleId="H"><w:pPr><w:jc w:val="center"/></w:pPr>'
        '<w:rPr><w:b/><w:sz w:val="28"/></w:rPr></w:style></w:styles>'
    )
    indented = '<w:p><w:pPr><w:ind w:left="400" w:firstLine="20"/></w:pPr>' + run("1. Name it.") + "</w:p>"
    heading = paragraph(run("三、判断题", '<w:rFonts w:eastAsia="黑体"/>'))
    lines = read_docx(
        make_docx([paragraph("Part One", style="H"), indented, heading], {"styles.xml": styles})
    ).lines
    assert [line.look for line in lines] == [
        Look(14.0, is_bold=True),
        Look(10.5, left=21.0),
        Look(10.5, is_bold=True),
    ]


def test_the_sign_of_a_list_without_numbers_stands_before_its_lines() -> None:
    lists = numbering([[("bullet", "\uf0b7")], [("none", "")]])
    data = make_docx(
        [paragraph("oak", number=(1, 0)), paragraph("ash", number=(2, 0)), "elm"], {"numbering.xml": lists}
    )
    assert texts(data) == ["• oak", "ash", "elm"]
