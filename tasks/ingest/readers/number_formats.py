"""Numbers, dates and times of a sheet, written as the formats of their cells show them."""

from __future__ import annotations

from datetime import date, time
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from schemas import patterns as re

# What a format prints as it stands: quoted, after a backslash, the sign of a currency. Widths and colours print nothing.
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]\-]*)(?:-[^\]]*)?\]|[_*].|\[[A-Z][a-z]+\d*\]')
_SIGNS = r"[\x00¥￥$€£+ ]*"
_FORMAT = re.compile(
    rf"(?P<before>{_SIGNS})(?P<comma>#,##)?(?P<whole>0+|#)(?:\.(?P<fixed>0*)(?P<open>[#?]*))?(?P<power>E\+0+)?"
    rf"(?P<after>{_SIGNS}%?{_SIGNS})"
)
_FRACTION = re.compile(r"[#0]?\s*(\?{1,3})/\1")
_MOST = 1e15  # beyond, a cell shows no more digits than it holds
_MOST_DECIMALS = 30  # what a spreadsheet allows; the digits of a share before them need 17 more
_WIDE = Context(prec=50)


def write_number(value: float, number_format: str) -> str | None:
    """A number as its format shows it, `50%`, `007`, `¥1,234.50`, `1/2`, or None for others."""
    literals: list[str] = []

    def keep(found: re.Match[str]) -> str:
        literals.append(found[1] or found[2] or found[3] or "")
        return "\x00"

    section = _LITERAL.sub(keep, number_format.split(";")[0]).strip()
    share = _FRACTION.fullmatch(section)
    if share is not None:
        return _write_fraction(value, 10 ** len(share[1]) - 1)
    found = _FORMAT.fullmatch(section)
    if found is None or abs(value) >= _MOST:
        return None
    after = found["after"]
    fixed, most = found["fixed"] or "", len((found["fixed"] or "") + (found["open"] or ""))
    if most > _MOST_DECIMALS:
        return None
    if not most and "%" not in after and not float(value).is_integer():
        return None  # cut to a whole number for the eye alone
    if found["power"]:
        digits = f"{abs(value):.{most}E}"
    else:
        exact = abs(Decimal(repr(value))) * (100 if "%" in after else 1)
        digits = f"{exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP, _WIDE):{',' if found['comma'] else ''}f}"
        whole, _, part = digits.partition(".")
        part = part.rstrip("0").ljust(len(fixed), "0") if found["open"] else part
        digits = whole.zfill(len(found["whole"])) + (f".{part}" if part else "")
    kept = iter(literals)
    text = re.sub("\x00", lambda _: next(kept), f"{found['before']}\x01{after}")
    return ("-" if value < 0 else "") + text.replace("\x01", digits).strip()


def _write_fraction(value: float, largest: int) -> str:
    share = Fraction(abs(value)).limit_denominator(largest)
    whole, rest = divmod(share.numerator, share.denominator)
    parts = [str(whole)] * (whole > 0 or not rest) + [f"{rest}/{share.denominator}"] * (rest > 0)
    return ("-" if value < 0 else "") + " ".join(parts)


def write_date(value: date, number_format: str) -> str | None:
    """Write a date as its format shows it (`1949年10月1日`, `3/8`, `4-Mar`)."""
    pattern = re.sub(r"\[[^\]]*\]|;@$|\\\\", "", number_format).replace('"', "").replace("\\", "")
    if pattern == _LOCAL or not re.fullmatch(r"(?:yyyy|yy|(?<!m)m{1,4}(?!m)|dd|d|[年月日/.,\- ])+", pattern):
        return None
    parts = {
        "yyyy": f"{value.year:04d}",
        "yy": f"{value.year % 100:02d}",
        "mmmm": f"{value:%B}",
        "mmm": f"{value:%b}",
        "mm": f"{value.month:02d}",
        "m": str(value.month),
        "dd": f"{value.day:02d}",
        "d": str(value.day),
    }
    return re.sub(r"yyyy|yy|m{1,4}|dd|d", lambda match: parts[match.group(0)], pattern)


_LOCAL = "mm-dd-yy"  # the short date of whoever opens the file: `1949/10/1` in China


def write_time(value: time, number_format: str) -> str | None:
    """Write a time of day as its format shows it (`8:00`, `13:05:30`)."""
    pattern = re.fullmatch(r"(?:\[\$-[^\]]*\])?(h{1,2}):mm(:ss)?(?:;@)?", number_format)
    if pattern is None:
        return None
    hour = f"{value.hour:02d}" if pattern[1] == "hh" else str(value.hour)
    return f"{hour}:{value:%M}" + (f":{value:%S}" if pattern[2] else "")
