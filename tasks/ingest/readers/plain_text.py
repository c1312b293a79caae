"""Plain text, HTML, CSV and JSON: bytes of unknown encoding to lines or rows."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction, Line, Sheet
from tasks.ingest.readers.gift import find_gift
from tasks.ingest.readers.sniffing import find_utf16
from tasks.ingest.words.columns import find_header, guess_columns

MAX_ROWS = 200_000
_TABLE_MARK = "\ue0f1"
# The commonest characters of modern Chinese, simplified and traditional: a right decoding is full of them.
_COMMON = set(
    "的一是不了在人有我他这中大来上个国和也子时道说出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者"
    "多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从題选择下列正确错误答案判断试计算简述填空名词解释"
    "這個來國說會後對裡過發經當學進種將還選擇確錯誤試計簡釋為於與時間問關們"
)


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and the encoding that it was read with.

    Byte order marks first, then strict UTF-8, UTF-16 without a mark, then the best of GB18030, Big5 and what
    charset-normalizer proposes. GB2312 and GBK are always read as GB18030.

    Raises:
        DocumentError: `corrupt` when no encoding fits.
    """
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), encoding
    encoding = find_utf16(data) or ""
    if encoding:
        return data.decode(encoding, errors="replace"), encoding
    try:
        return _repair(data.decode("utf-8")), "utf-8"
    except UnicodeDecodeError as error:
        # a file cut off in the middle of its last character is still UTF-8
        if error.start > len(data) - 4 and error.start > 64:
            return _repair(data[: error.start].decode("utf-8")), "utf-8"
    candidates: list[tuple[float, str, str]] = []
    for encoding in ("gb18030", "big5hkscs"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            text = data.decode(encoding, errors="replace")
        candidates.append((_score(text), encoding, text))
    best = max(candidates)
    if best[0] > 0.15:
        return best[2], best[1]
    from charset_normalizer import from_bytes

    match = from_bytes(data[:200_000]).best()
    if match is not None:
        encoding = (
            "gb18030" if match.encoding.lower() in ("gb2312", "gbk", "gb18030", "cp936") else match.encoding
        )
        return data.decode(encoding, errors="replace"), encoding
    if best[0] > 0:
        return best[2], best[1]
    raise DocumentError("corrupt", "The text is in no encoding that is known. Save it as UTF-8.")


def _score(text: str) -> float:
    wide = [character for character in text if ord(character) > 0x7F]
    if not wide:
        return 1.0
    good = sum(1 for character in wide if character in _COMMON)
    bad = sum(1 for character in wide if character == "\ufffd" or 0xE000 <= ord(character) < 0xF900)
    likely = sum(
        1 for character in wide if "\u4e00" <= character <= "\u9fff" or "\u3000" <= character <= "\u303f"
    )
    return (good + 0.1 * likely - 5 * bad) / len(wide)


def _repair(text: str) -> str:
    """Undo GBK that an earlier program read as Latin-1 (`È«½Ç`), where that is plainly what happened."""
    wide = [character for character in text if ord(character) > 0x7F]
    if len(wide) < 8 or any(ord(character) > 0xFF for character in wide):
        return text
    try:
        repaired = text.encode("latin-1").decode("gb18030")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return text
    return repaired if _score(repaired) > 0.3 else text


def read_text(data: bytes) -> Extraction:
    """Return the lines of a plain text file; delimited text with a header row becomes a sheet."""
    text, encoding = decode(data)
    extraction = Extraction(converter="text", converter_version=encoding)
    records = find_gift(text)
    if records is not None:
        extraction.converter = "gift"
        extraction.records = [dict(record) for record in records]
        return extraction
    sheet = _find_delimited(text) or _find_barred(text)
    if sheet is not None:
        extraction.converter = "csv"
        extraction.sheets.append(sheet)
        return extraction
    lines = re.split(r"\r\n|\r|\n|\x0b|\x0c|\u2028|\u2029", text)
    extraction.lines = _read_pipe_tables(lines) if "|" in text else [Line(line) for line in lines]
    return extraction


_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*")


def _read_pipe_tables(lines: Sequence[str]) -> list[Line]:
    """The lines of a text, with the rows of its Markdown tables (`| 1 | B |`, a rule below the first) as rows of tables."""
    found = [Line(line) for line in lines]
    rules: set[int] = set()
    tables = 0
    for index in range(1, len(lines)):
        if "--" not in lines[index] or not _RULE_ROW.fullmatch(lines[index]) or "|" not in lines[index - 1]:
            continue
        tables += 1
        last = index + 1
        while last < len(lines) and "|" in lines[last]:
            last += 1
        rules.add(index)
        for place in (index - 1, *range(index + 1, last)):
            cells = tuple(cell.strip() for cell in lines[place].strip().strip("|").split("|"))
            found[place] = Line(" | ".join(cells), kind="table", cells=cells, table=tables)
    return [line for index, line in enumerate(found) if index not in rules]


_BARS = re.compile(r"\|{2,}|;{2,}|@@+|\t+|~~+|::+|\^\^+")


def _find_barred(text: str) -> Sheet | None:
    """Read lines whose fields are parted by one and the same sign (`1|||statement|||对`), without a header row."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 5:
        return None
    signs = Counter(sign for line in lines[:200] for sign in set(_BARS.findall(line)))
    for sign, _ in signs.most_common(2):
        counts = Counter(len(line.split(sign)) for line in lines)
        width, share = counts.most_common(1)[0]
        if width > 1 and share >= 0.9 * len(lines):
            rows = [[cell.strip() for cell in line.split(sign)] for line in lines]
            if guess_columns(rows) is not None:
                return Sheet("", rows)
    return None


def read_csv(data: bytes) -> Extraction:
    """Return the rows of a delimited file; text that is not delimited comes back as lines."""
    text, encoding = decode(data)
    rows = _parse_rows(text, _guess_delimiter(text))
    if sum(1 for row in rows[:50] if len(row) > 1) * 2 < min(len(rows), 50):
        return read_text(data)
    return Extraction(converter="csv", converter_version=encoding, sheets=[Sheet("", rows)])


def _find_delimited(text: str) -> Sheet | None:
    head = text[:20_000]
    for delimiter in ("\t", ",", ";", "|", "，"):
        if head.count(delimiter) < 3:
            continue
        rows = _parse_rows(head, delimiter)
        counts = Counter(len(row) for row in rows if row)
        if not counts or counts.most_common(1)[0][0] < 2:
            continue
        header = find_header(rows)
        if header is not None and len(header.columns) >= 3:
            return Sheet("", _parse_rows(text, delimiter))
    return None


def _guess_delimiter(text: str) -> str:
    head = text[:50_000]
    best, best_score = ",", -1.0
    for delimiter in (",", "\t", ";", "|"):
        lengths = [len(row) for row in _parse_rows(head, delimiter) if row]
        if not lengths:
            continue
        width, count = Counter(lengths).most_common(1)[0]
        score = count / len(lengths) * min(width - 1, 8)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _parse_rows(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(10_000_000)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) >= MAX_ROWS:
                break
    except csv.Error:
        return [line.split(delimiter) for line in text.splitlines()[:MAX_ROWS]]
    return rows


def read_html(data: bytes) -> Extraction:
    """Return the tables of an HTML file as sheets, or its text as lines where it has none that are wide."""
    from lxml import etree, html

    text, encoding = decode(data)
    declared = re.search(r"charset=[\"']?([\w-]+)", text[:2000], re.IGNORECASE)
    extraction = Extraction(converter="html", converter_version=declared.group(1) if declared else encoding)
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    try:
        root: Any = html.document_fromstring(text)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError("corrupt", "The HTML cannot be parsed. Save the page again.") from error
    for element in list(root.iter("script", "style", "head")):
        element.drop_tree()
    for element in root.iter("input"):
        if (element.get("type") or "").lower() in ("radio", "checkbox"):
            sign = "☑" if element.get("checked") is not None else "□"
            element.tail = f"{sign} {(element.tail or '').strip()}"
    for element in root.iter("br"):
        element.tail = "\n" + (element.tail or "")
    tables = [table for table in root.iter("table") if not any(True for _ in table.iterancestors("table"))]
    grids = [_read_html_table(table) for table in tables]
    wide = [index for index, rows in enumerate(grids) if rows and max(len(row) for row in rows) > 2]
    if wide and not _has_text_beside(root, [tables[index] for index in wide]):
        extraction.sheets = [
            Sheet(f"table {place}", grids[index]) for place, index in enumerate(wide, start=1)
        ]
        return extraction
    for index in wide:
        mark = tables[index].makeelement("p")
        mark.text = f"{_TABLE_MARK}{index}"
        tables[index].addprevious(mark)
        tables[index].drop_tree()
    _write_list_marks(root)
    blocks = {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "td", "table", "ul", "ol", "summary", "details",
              "section", "article", "fieldset", "legend", "blockquote", "pre", "dl", "dt", "dd", "form"}  # fmt: skip
    for element in root.iter():
        if element.tag in blocks:
            element.text = "\n" + (element.text or "")
            element.tail = "\n" + (element.tail or "")
    for line in str(root.text_content()).split("\n"):
        if not line.strip().startswith(_TABLE_MARK):
            extraction.lines.append(Line(line.strip()))
            continue
        index = int(line.strip()[len(_TABLE_MARK) :])
        for row in grids[index]:
            text = " | ".join(cell.replace("\n", " ") for cell in row)
            extraction.lines.append(Line(text, kind="table", cells=tuple(row), table=index + 1))
    return extraction


_LIST_FORMS = {"A": "A", "a": "a", "I": "I", "i": "i", "upper-alpha": "A", "lower-alpha": "a",
               "upper-latin": "A", "lower-latin": "a", "upper-roman": "I", "lower-roman": "i", "decimal": "1"}  # fmt: skip
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([\w-]+)")


def _write_list_marks(root: Any) -> None:
    """Write before every item of an ordered list the number or letter that a browser shows there."""
    for ordered in root.iter("ol"):
        style = _LIST_STYLE.search(ordered.get("style") or "")
        name = style.group(1) if style else ordered.get("type", "1")
        if name == "none":
            continue
        form = _LIST_FORMS.get(name, "1")
        start = ordered.get("start") or "1"
        value = int(start) if start.isdigit() else 1
        for item in ordered.iterchildren("li"):
            own = item.get("value") or ""
            value = int(own) if own.isdigit() else value
            mark = _write_list_mark(form, value)
            value += 1
            holder = item
            # `<li><p>Where …`: the mark stands on the line of the item's first text
            while (
                not (holder.text or "").strip() and len(holder) and holder[0].tag in ("p", "div", "span", "b")
            ):
                holder = holder[0]
            holder.text = f"{mark}. {(holder.text or '').lstrip()}"


def _write_list_mark(form: str, value: int) -> str:
    if form == "1" or (form in "Aa" and value > 26):
        return str(value)
    if form in "Aa":
        return chr(ord(form) + value - 1)
    roman = ""
    for worth, letters in ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        roman += letters * (value // worth)
        value %= worth
    return roman if form == "i" else roman.upper()


def _read_html_table(table: Any) -> list[list[str]]:
    """The cells of a table; what spans columns leaves the further ones empty, what spans rows is repeated."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        cells: list[str] = []

        def fill_hanging(cells: list[str] = cells) -> None:
            while len(cells) in hanging:
                left, text = hanging.pop(len(cells))
                if left > 1:
                    hanging[len(cells)] = (left - 1, text)
                cells.append(text)

        for cell in row.iterchildren("td", "th"):
            fill_hanging()
            lines = (" ".join(line.split()) for line in _cell_lines(cell))
            text = "\n".join(line for line in lines if line)
            wide, tall = (_read_span(cell.get(name)) for name in ("colspan", "rowspan"))
            for place in range(wide):
                if tall > 1:
                    hanging[len(cells)] = (tall - 1, text if place == 0 else "")
                cells.append(text if place == 0 else "")
        fill_hanging()
        grid.append(cells)
    width = max((len(row) for row in grid), default=0)
    return [[*row, *[""] * (width - len(row))] for row in grid]


def _cell_lines(cell: Any) -> list[str]:
    for element in cell.iter("p", "div", "li"):
        element.tail = "\n" + (element.tail or "")
    return str(cell.text_content()).split("\n")


def _read_span(value: str | None) -> int:
    return min(int(value), 100) if value is not None and value.isdigit() and int(value) else 1


def _has_text_beside(root: Any, tables: list[Any]) -> bool:
    """Whether questions stand beside the tables: then the page is a paper, else it is a sheet."""
    inside = sum(len(" ".join(str(table.text_content()).split())) for table in tables)
    outside = len(" ".join(str(root.text_content()).split())) - inside
    return outside > 60 or outside > 0.1 * inside


def read_json(data: bytes) -> Extraction:
    """Return the records of a JSON file (the longest list of objects in it) or of JSON lines.

    A line of JSON lines that cannot be read is left out and named in the warnings.

    Raises:
        DocumentError: `corrupt` when it is neither.
    """
    text, encoding = decode(data)
    text = text.lstrip("\ufeff")
    extraction = Extraction(converter="json", converter_version=encoding)
    try:
        extraction.records = find_records(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        extraction.records, bad = _read_json_lines(text)
        if bad:
            extraction.warnings.append(_name_bad_lines(bad, len(extraction.records)))
    return extraction


def _read_json_lines(text: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects of JSON lines and the numbers of the lines that hold none."""
    records: list[dict[str, Any]] = []
    bad: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            bad.append(number)
    if len(bad) > len(records):
        raise DocumentError(
            "corrupt",
            f"Line {bad[0]} is no JSON object, and the file as a whole is no JSON either. Export it again.",
        )
    return records, bad


def _name_bad_lines(bad: Sequence[int], count: int) -> str:
    named = ", ".join(map(str, bad[:10])) + (" …" if len(bad) > 10 else "")
    return f"{len(bad)} of {len(bad) + count} lines are no JSON object and were left out: {named}."


def find_records(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """Return the longest list of objects anywhere in a JSON value, an object alone as a list of one.

    An object whose values are lists of objects (sections of a paper) gives all of them, with the key as `section`.
    """
    if isinstance(value, list):
        records = [item for item in value if isinstance(item, dict)]
        if len(records) == 1 and depth < 4:
            inner = find_records(records[0], depth + 1)
            return inner if len(inner) > 1 else records
        return records
    if not isinstance(value, dict) or depth > 4:
        return []
    lists = {key: find_records(item, depth + 1) for key, item in value.items() if isinstance(item, list)}
    lists = {
        key: records
        for key, records in lists.items()
        if records and key not in ("options", "choices", "选项")
    }
    if lists:
        merged: list[dict[str, Any]] = []
        for key, records in lists.items():
            merged.extend(record if "section" in record else {**record, "section": key} for record in records)
        return merged
    nested = [find_records(item, depth + 1) for item in value.values() if isinstance(item, dict)]
    longest = max(nested, key=len, default=[])
    if len(longest) > 1:
        return longest
    if value and all(isinstance(item, dict) for item in value.values()):
        return [{"number": key, **item} for key, item in value.items()]
    return [value]
