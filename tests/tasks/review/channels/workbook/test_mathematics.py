"""Simple LaTeX in characters; what they cannot hold is left as it stands."""

from __future__ import annotations

import pytest

from tasks.review.channels.workbook.mathematics import render_mathematics


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"$x^2$ and $x_{1}$", "x² and x₁"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"\(\frac{a+1}{b}\)", "(a+1)/b"),
        # What a bar or a root holds together must not be read as something else.
        (r"$\frac{1}{ab}$", "1/(ab)"),
        (r"$2\frac{1}{3}$", "2(1/3)"),
        (r"$\frac12 x$", "(1/2) x"),
        (r"${a+b}^2$", "(a+b)²"),
        (r"$\sqrt{2}x$", "(√2)x"),
        (r"$\sqrt{a+b}$", "√(a+b)"),
        (r"$\sqrt[3]{8}$", "³√8"),
        (r"$\theta \le 90^\circ$", "θ≤90°"),
        (r"\[\int_0^1 x dx\]", "∫₀¹ x dx"),
        (r"${}^{14}C$", "¹⁴C"),
        (r"$\sin\frac{\pi}{2}$", "sin(π/2)"),
        # Formulas of Word come without delimiters.
        (r"x^{2}+\frac{\sqrt{2}}{2}\sin x", "x²+(√2/2)sin x"),
        (r"\alpha+2\pi r", "α+2π r"),
        ("H_{2}O", "H₂O"),
    ],
)
def test_simple_formulas_are_shown_in_characters(latex: str, shown: str) -> None:
    assert render_mathematics(latex) == shown


@pytest.mark.parametrize(
    "text",
    [
        r"$\begin{pmatrix}1&2\end{pmatrix}$",
        r"$x^{\frac{1}{2}}$",
        r"$\lim_{x\to 0} f(x)$",
        r"$\frac{1}{2$",
        "it costs $5 and $6",
        "a^b, snake_case and x_y",
        r"C:\pi and printf(\n, \nuse)",
        r"path\tools",
        "没有公式",
    ],
)
def test_what_characters_cannot_hold_or_is_no_formula_stays_whole(text: str) -> None:
    assert render_mathematics(text) == text
