"""Fonts of PDF that say other characters than they show are known by what no text holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.ingest.documents import IngestOptions, parse_document
from tasks.ingest.readers.pdf import read_pdf
from tasks.ingest.readers.pdf_fonts import count_odd, find_garbled, find_shift, find_signs, list_foreign
from tasks.ingest.readers.scripts import find_glyph
from tests.tasks.ingest.builders import write


def is_garbled(text: str) -> bool:
    return bool(find_garbled([count_odd(list(text.replace(" ", "") * 20))]))


@pytest.mark.parametrize(
    "text",
    [
        "ÍÆâÆ 2021—2022Æc1Æœ 5V«ÿ6œ ££Ú(AÚ) kNáïfßzáï•kaáÁ•ßbáx•ßl1òï•ò•ò",
        "ºÍf(x)3[−1, 1]ÎYß3(−1, 1)Ã°gåßÈ?øg,Ín⁄?øx y²µf(x)3[−1, 1]˛ðu0",
        "㐀㐁㐂㐃㐄 㐅㐆㐇㐈㐉 龦龧龨龩龪",
    ],
)
def test_text_that_no_language_writes_is_garbled(text: str) -> None:
    assert is_garbled(text)


@pytest.mark.parametrize(
    "text",
    [
        "一、单项选择题（每小题 2 分，共 20 分）下列说法正确的是（ ）。A. x²+y²=1 B. ∀x∈ℝ",
        "Élève, où étais-tu à Noël ? « Déjà vu », répondit-il naïvement ; ça coûte 5 €.",
        "Đại học Bách khoa Hà Nội: Câu hỏi trắc nghiệm về cơ sở dữ liệu quan hệ",
        "ÜBUNGSAUFGABEN: Ölpreis, Äpfel und Straße; Größe § 5 Abs. 2",
        "Экзамен по математике: вычислите предел последовательности",
        "次の文章を読み、下の問いに答えよ。電車の速さは 20 m/s である。",
        "下列敘述何者正確？（甲）臺灣位於亞熱帶（乙）氣候溫和",
        "(p∧q∧r)∨(p∧q∧¬r)∨(¬p∧q∧r) ⊢ ∃x (P(x) → Q(x)), |x| ≤ ½ ± 3·10⁻³",
    ],
)
def test_text_in_any_language_is_not(text: str) -> None:
    assert not is_garbled(text)


TEXT = "考试方式日期教师文本件时间机制结果程序月样来来查某柱板根据操作系统"


def shift(text: str, by: int) -> str:
    return "".join(chr(ord(one) - by) for one in text)


@pytest.mark.parametrize("by", [0x49D0, 0x4D00, 0x4A11])
def test_characters_counted_from_a_wrong_place_are_read_as_what_they_show(by: int) -> None:
    moved = shift("".join(one for one in TEXT if 0x6200 <= ord(one) < 0x6800), by)
    assert set(list_foreign(list(f"考试{moved}, x²"))) == set(moved)
    shown = find_shift(sorted(set(moved)))
    assert moved.translate(shown) == shift(moved, -by)


def test_a_few_foreign_letters_are_left_as_they_are() -> None:
    assert find_shift(list("ᯩᰕᵏᴸ")) == {}
    assert not list_foreign(list("Élève, où; Ω, ж, かな, 한국, x̄, Ⅳ"))


@pytest.mark.parametrize(
    ("name", "code", "sign"),
    [
        ("ABCDEF+Wingdings-Regular", 0xFC, "✓"),
        ("Wingdings", 0xF0D8, "➢"),
        ("ABCDEF+Wingdings2", 0xF050, "✓"),
        ("ABCDEF+SimSun", 0xFC, None),
    ],
)
def test_a_font_of_signs_shows_signs(name: str, code: int, sign: str | None) -> None:
    assert find_signs(name).get(code) == sign


@pytest.mark.parametrize(
    ("font", "code", "sign"),
    [
        ("symbol", 0xF03D, "="),
        ("symbol", 0xF0B7, "•"),
        ("symbol", 0x61, "α"),
        ("symbol", 0xF043, None),
        ("wingdings", 0xF0FC, "√"),
        ("arial", 0x61, None),
    ],
)
def test_symbol_fonts_have_the_same_signs_in_every_format(font: str, code: int, sign: str | None) -> None:
    assert find_glyph(font, code) == sign


def make_coded_pdf(text: bytes) -> bytes:
    """One page in a font that says private codes for all that it shows."""
    codes = b"1 beginbfrange <20> <7e> <F020> endbfrange"
    text = b"BT /F 11 Tf 50 700 Td (%b) Tj ET" % text
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(text), text),
        font,
        b"<</Length %d>>stream\n%b\nendstream" % (len(codes), codes),
    ]
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % one for one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n%%EOF"


def test_a_page_of_codes_alone_is_not_read_as_symbols() -> None:
    _, unreadable = read_pdf(make_coded_pdf(b"12. HOW OLD IS THE MILL?"))
    assert unreadable == {1: False}


def test_a_paper_that_only_ocr_can_read_waits_for_it(tmp_path: Path) -> None:
    data = make_coded_pdf(b"12. HOW OLD IS THE MILL AT THE RIVER, AND WHO BUILT IT?")
    document = parse_document(write(tmp_path, "paper.pdf", data), IngestOptions(use_ocr=False)).document
    assert document["status"] == "needs_ocr"
    assert document["error"].startswith("Pages 1 hold no text that can be read.")
