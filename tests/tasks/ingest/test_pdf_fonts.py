"""Fonts of PDF that say other characters than they show are known by what no text holds."""

from __future__ import annotations

import pytest

from tasks.ingest.readers.pdf_fonts import count_odd, find_garbled


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
