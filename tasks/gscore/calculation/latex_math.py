r"""LaTeX mathematics to sympy, for values only.

It reads numbers, letters, + - × ÷, powers, roots, fractions and elementary functions.

A parser of its own and not sympy's, because answers come from strangers: sympy's text parser evaluates Python.
Anything outside this grammar raises `NotMathematics`.
"""

from __future__ import annotations

from typing import Any

from schemas import patterns as re


class NotMathematics(ValueError):
    """The text is outside the grammar: it is compared as text only."""


_TOKEN = re.compile(r"\\[A-Za-z]+|\d+\.\d+|\d+|[A-Za-z]|[-+*/^_(){}\[\]|!%]|(\s+)")
_LONGEST = 400
_OPENING = {"(": ")", "{": "}", "[": "]"}
_FUNCTIONS = {
    r"\sin": "sin", r"\cos": "cos", r"\tan": "tan", r"\cot": "cot", r"\sec": "sec", r"\csc": "csc",
    r"\arcsin": "asin", r"\arccos": "acos", r"\arctan": "atan", r"\sinh": "sinh", r"\cosh": "cosh", r"\tanh": "tanh",
    r"\ln": "log", r"\exp": "exp",
}  # fmt: skip
_LOGARITHMS = (r"\log", r"\lg")
_GREEK = frozenset(
    {
        r"\alpha", r"\beta", r"\gamma", r"\delta", r"\epsilon", r"\varepsilon", r"\zeta", r"\eta", r"\theta",
        r"\vartheta", r"\lambda", r"\mu", r"\nu", r"\xi", r"\rho", r"\sigma", r"\tau", r"\phi", r"\varphi",
        r"\chi", r"\psi", r"\omega", r"\Delta", r"\Omega",
    }
)  # fmt: skip
_TIMES = ("*", r"\times", r"\cdot")
_OVER = ("/", r"\div")


def parse_latex(text: str) -> Any:
    """Return the sympy expression that `text` writes down. Raises NotMathematics."""
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotMathematics(f"character {position + 1} is not mathematics")
        if match[1] is None:
            tokens.append(match[0])
        position = match.end()
    if not tokens or len(tokens) > _LONGEST:
        raise NotMathematics(f"{len(tokens)} tokens")
    parser = _Parser(tokens)
    value = parser.parse_sum()
    if parser.next is not None:
        raise NotMathematics("something follows the expression")
    return value


class _Parser:
    """Recursive descent over the tokens.

    Each method reads one construct and returns its sympy value.
    """

    def __init__(self, tokens: list[str]) -> None:
        import sympy

        self._sympy = sympy
        self._tokens = tokens
        self._at = 0
        self._bars = 0

    @property
    def next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, expected: str | None = None) -> str:
        word = self.next
        if word is None or (expected is not None and word != expected):
            raise NotMathematics(f"expected {expected or 'more'}")
        self._at += 1
        return word

    def parse_sum(self) -> Any:
        value = self._parse_product()
        while self.next in ("+", "-"):
            value = value + self._parse_product() if self._take() == "+" else value - self._parse_product()
        return value

    def _parse_product(self) -> Any:
        if self.next in ("+", "-"):
            return self._parse_product() if self._take() == "+" else -self._parse_product()
        value = self._parse_power()
        while True:
            if self.next in _TIMES:
                self._take()
                value = value * self._parse_signed_power()
            elif self.next in _OVER:
                self._take()
                value = value / self._parse_signed_power()
            elif self._starts_factor():
                value = value * self._parse_power()
            else:
                return value

    def _parse_signed_power(self) -> Any:
        if self.next in ("+", "-"):
            return self._parse_power() if self._take() == "+" else -self._parse_power()
        return self._parse_power()

    def _starts_factor(self) -> bool:
        word = self.next
        if word is None or word in ("+", "-", ")", "}", "]", "^", "_", "!", "%", *_TIMES, *_OVER):
            return False
        return word != "|" or self._bars == 0

    def _parse_power(self) -> Any:
        value = self._parse_base()
        while self.next in ("^", "!", "%"):
            mark = self._take()
            if mark == "!":
                value = self._sympy.factorial(value)
            elif mark == "%":
                value = value / 100
            elif self.next == r"\circ":
                self._take()
                value = value * self._sympy.pi / 180
            else:
                value = value ** self._parse_argument()
        return value

    def _parse_argument(self) -> Any:
        """Read what a ^ or a command without brackets takes: a group or a single sign."""
        if self.next == "-":
            self._take()
            return -self._parse_base()
        word = self.next
        if word is not None and word.isdecimal() and len(word) > 1:
            # x^10 without braces is x to the 1, then 0, in LaTeX; whoever writes it means ten
            return self._sympy.Integer(self._take())
        return self._parse_base()

    def _parse_base(self) -> Any:
        word = self._take()
        if word[0].isdigit():
            return self._parse_number(word)
        if word in _OPENING:
            bars, self._bars = self._bars, 0
            value = self.parse_sum()
            self._bars = bars
            self._take(_OPENING[word])
            return value
        if word == "|":
            self._bars += 1
            value = self.parse_sum()
            self._bars -= 1
            self._take("|")
            return self._sympy.Abs(value)
        if word == r"\frac":
            return self._parse_argument() / self._parse_argument()
        if word == r"\sqrt":
            return self._parse_root()
        if word in _FUNCTIONS or word in _LOGARITHMS:
            return self._parse_function(word)
        return self._parse_name(word)

    def _parse_number(self, word: str) -> Any:
        value = self._sympy.Rational(word)
        rest = self._tokens[self._at : self._at + 7]
        is_mixed = (
            len(rest) == 7
            and rest[0] == r"\frac"
            and "." not in word
            and [rest[1], rest[3], rest[4], rest[6]] == ["{", "}", "{", "}"]
            and rest[2].isdecimal()
            and rest[5].isdecimal()
            and int(rest[2]) < int(rest[5])
        )
        if is_mixed:  # 1\frac{1}{2} is one and a half in Chinese primary schools, not one times a half
            self._at += 7
            value += self._sympy.Rational(int(rest[2]), int(rest[5]))
        return value

    def _parse_root(self) -> Any:
        if self.next != "[":
            return self._sympy.sqrt(self._parse_argument())
        self._take("[")
        degree = self.parse_sum()
        self._take("]")
        value = self._parse_argument()
        return self._sympy.real_root(value, degree) if value.is_number else value ** (1 / degree)

    def _parse_function(self, word: str) -> Any:
        base = self._sympy.Integer(10)
        if self.next == "_" and word in _LOGARITHMS:
            self._take()
            base = self._parse_argument()
        power = None
        if self.next == "^":
            self._take()
            power = self._parse_argument()
        if self.next in _OPENING or self.next == "|":
            argument = self._parse_base()
        else:
            argument = self._parse_power()
            while self._starts_factor() and self.next not in _FUNCTIONS and self.next not in _LOGARITHMS:
                argument = argument * self._parse_power()
        if word in _LOGARITHMS:
            value = self._sympy.log(argument) / self._sympy.log(base)
        elif power == -1:
            value, power = getattr(self._sympy, "a" + _FUNCTIONS[word])(argument), None
        else:
            value = getattr(self._sympy, _FUNCTIONS[word])(argument)
        return value if power is None else value**power

    def _parse_name(self, word: str) -> Any:
        constants = {
            "e": self._sympy.E,
            "i": self._sympy.I,
            r"\pi": self._sympy.pi,
            r"\infty": self._sympy.oo,
        }
        if word in constants:
            return constants[word]
        if word not in _GREEK and not (len(word) == 1 and word.isalpha()):
            raise NotMathematics(f"{word} is unknown")
        name = word
        if self.next == "_":
            self._take()
            if self.next == "{":
                self._take()
                name += "_" + self._take()
                self._take("}")
            else:
                name += "_" + self._take()
        return self._sympy.Symbol(name)
