"""Plain text, HTML, CSV and JSON: bytes of unknown encoding to lines or rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.anki import find_anki
from tasks.ingest.readers.blackboard import find_blackboard
from tasks.ingest.readers.chats import mark_chat
from tasks.ingest.readers.emphasis import mark_text, read_kinds, take_marks
from tasks.ingest.readers.extraction import Extraction, Line, Sheet
from tasks.ingest.readers.gift import find_gift
from tasks.ingest.readers.sniffing import find_utf16
from tasks.ingest.words.column_shapes import guess_columns
from tasks.ingest.words.columns import find_header

MAX_ROWS = 200_000
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
    # a bullet of Word's symbol fonts says nothing
    wide = [
        character for character in text if ord(character) > 0x7F and not "\uf000" <= character <= "\uf0ff"
    ]
    if not wide:
        return 1.0
    # dashes and quotation marks of any text: nearly all that an English one has
    good = sum(1 for character in wide if character in _COMMON or "\u2010" <= character <= "\u2027")
    bad = sum(1 for character in wide if character == "\ufffd" or 0xE000 <= ord(character) < 0xF900)
    likely = sum(
        1 for character in wide if "\u4e00" <= character <= "\u9fff" or "\u3000" <= character <= "\u303f"
    )
    return (good + 0.1 * likely - 5 * bad) / len(wide)


def _repair(text: str) -> str:
    """Undo GBK that an earlier program plainly read as Latin-1 (`È«½Ç`)."""
    wide = [character for character in text if ord(character) > 0x7F]
    if len(wide) < 8 or any(ord(character) > 0xFF for character in wide):
        return text
    try:
        repaired = text.encode("latin-1").decode("gb18030")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return text
    return repaired if _score(repaired) > 0.3 else text


def read_text(data: bytes) -> Extraction:
    """Return the lines of a plain text file; delimited text becomes a sheet."""
    text, encoding = decode(data)
    extraction = Extraction(converter="text", converter_version=encoding)
    found = find_gift(text) or find_blackboard(text) or find_anki(text)
    if found is not None:
        found.converter_version = encoding
        return found
    sheet = _find_delimited(text)
    if sheet is not None:
        extraction.converter = "csv"
        extraction.sheets.append(sheet)
        return extraction
    lines = _write_plainly(re.split(r"\r\n|\r|\n|\x0b|\x0c|\u2028|\u2029", text))
    if "</" in text:
        lines = _open_tags(lines)
    extraction.lines = mark_chat(
        _read_pipe_tables(lines) if "|" in text else [_make_line(line) for line in lines]
    )
    return extraction


# `3\\. …`, `&nbsp;&nbsp;…`, `<!-- … -->`: what Markdown prints otherwise than it is written
_ESCAPED = re.compile(r"(?P<lead>\s*(?:[*_]{1,2})?\d{1,3})\\(?=[.)](?:\s|$))")
_SPACES = re.compile(r"^(?:&nbsp;)+|(?:&nbsp;){2,}|(?:&nbsp;)+(?=\s*$)")
_ANSWERS = re.compile(r"(?i:answer|key|solution)|答案|解析")
_UNSHOWN = re.compile(r"\s*(?:<!--[^<>]*-->|%%[^%]*%%|\[TOC\]|\[\^\w+\]:.*)\s*")
# `> [!success]- Answer` above quoted lines, `==salt==`: what notes fold away, and what they highlight
_CALLOUT = re.compile(r"\s*>\s*\[!\w+\][-+]?\s*(?P<title>[^:：]{1,24}?)\s*[:：]?\s*")
_HIGHLIGHTED = re.compile(r"(?<![\w=!<>])==(?=[^\s=])(?P<held>[^=&|;{}]{1,60}?)(?<=[^\s=])==(?![\w=])")
_WIKI_TITLE = re.compile(r"==[^=]+==\s*")
_LEAST_HIGHLIGHTED = 2
_QUOTED = re.compile(r"(?:>[ \t]?)+")
_QUOTED_NUMBER = re.compile(r"(?:>[ \t]?)+\s?\d{1,3}\s?[.．、)）,，]")
_LEAST_QUOTED = 0.3


def _write_plainly(lines: Sequence[str]) -> list[str]:
    """The lines as Markdown prints them, and those that a mail quotes as they were sent."""
    text_lines = sum(1 for line in lines if line.strip())
    quoted = [line for line in lines if line.startswith(">")]
    asked = sum(_QUOTED_NUMBER.match(line) is not None for line in quoted)
    if len(quoted) > _LEAST_QUOTED * text_lines and asked > 1 and not any(">>>" in line for line in quoted):
        lines = [_QUOTED.sub("", line, count=1) if line.startswith(">") else line for line in lines]
    # a comment among other text is asked about
    commented = {
        sign
        for sign in ("<!--", "%%")
        if any(sign in line and _UNSHOWN.fullmatch(line) is None for line in lines)
    }
    highlighted = [line for line in lines if _HIGHLIGHTED.search(line) and not _WIKI_TITLE.fullmatch(line)]
    is_highlighted = len(highlighted) >= _LEAST_HIGHLIGHTED
    written: list[str] = []
    is_folded = False  # what is quoted below the title of an answer
    for line in lines:
        callout = _CALLOUT.fullmatch(line) if "[!" in line else None
        is_folded = is_folded and line.lstrip().startswith(">")
        if callout is not None and _ANSWERS.search(callout["title"]):
            line, is_folded = f"{callout['title']}:", True
        elif is_folded:
            line = _QUOTED.sub("", line.lstrip(), count=1)
        if is_highlighted and "==" in line and _WIKI_TITLE.fullmatch(line) is None:
            line = _HIGHLIGHTED.sub(_mark_highlighted, line)
        if "\\" in line and (escaped := _ESCAPED.match(line)) is not None:
            line = f"{escaped['lead']}{line[escaped.end() :]}"
        if "&nbsp;" in line:
            line = _SPACES.sub(" ", line)
        is_unshown = (
            (line[:1] == "[" or any(sign in line and sign not in commented for sign in ("<!--", "%%")))
            and _UNSHOWN.fullmatch(line) is not None
            and _ANSWERS.search(line) is None
        )
        written.append("" if is_unshown else line)
    return written


def _mark_highlighted(found: re.Match[str]) -> str:
    return mark_text(found["held"], ("highlight",))


# `<font color='red'>Mars</font>`: within a line, as Markdown allows it
_TAGGED = re.compile(
    r"(?P<opening><(?P<tag>font|span|mark|b|strong|u)(?P<attributes>\s[^<>]{1,200})?>)(?P<held>[^<>]*)</(?P=tag)>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_PAIR = re.compile(
    r"(?P<opening><(?P<tag>[a-z]\w*)(?:\s[^<>]{1,200})?>)(?P<held>[^<>]*)</(?P=tag)>", re.IGNORECASE
)
_LEAST_TAGGED, _MOST_RETAGGED = 3, 0.3


def _open_tags(lines: Sequence[str]) -> list[str]:
    """The lines without the tags of HTML that come again, their texts fenced as they stand out.

    What a paper about HTML asks is written in many tags, each of them seldom, or the same text in several.
    """
    opened: Counter[str] = Counter()
    tags: dict[str, set[str]] = {}
    held: list[str] = []
    for found in (found for line in lines if "</" in line for found in _PAIR.finditer(line)):
        tags.setdefault(found["held"].strip(), set()).add(found["tag"].casefold())
        if _TAGGED.match(found[0]) is not None:
            opened[found["opening"]] += 1
            held.append(found["held"].strip())
    usual = {opening for opening, count in opened.items() if count >= _LEAST_TAGGED}
    if sum(1 for text in held if len(tags[text]) > 1) > _MOST_RETAGGED * len(held):
        return [*lines]

    def fence(found: re.Match[str]) -> str:
        if found["opening"] not in usual:
            return found[0]
        attributes = {
            name.casefold(): double or single or bare
            for name, double, single, bare in _ATTRIBUTE.findall(found["attributes"] or "")
        }
        return mark_text(found["held"], read_kinds(found["tag"].casefold(), attributes))

    return [_TAGGED.sub(fence, line) if "</" in line else line for line in lines] if usual else [*lines]


def _make_line(text: str) -> Line:
    bare, spans = take_marks(text)
    return Line(bare, emphasis=tuple(spans))


_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*")


def _read_pipe_tables(lines: Sequence[str]) -> list[Line]:
    """The lines of a text, with the rows of its Markdown tables as rows of tables."""
    found = [_make_line(line) for line in lines]
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
            cells = [cell.strip() for cell in lines[place].strip().strip("|").split("|")]
            bare = tuple([take_marks(cell)[0] for cell in cells])
            found[place] = replace(_make_line(" | ".join(cells)), kind="table", cells=bare, table=tables)
    return [line for index, line in enumerate(found) if index not in rules]


def read_csv(data: bytes) -> Extraction:
    """Return the rows of a delimited file; text that is not delimited comes back as lines."""
    text, encoding = decode(data)
    found = find_blackboard(text)
    if found is not None:
        return found
    rows = _parse_rows(text, _guess_delimiter(text))
    if sum(1 for row in rows[:50] if len(row) > 1) * 2 < min(len(rows), 50):
        return read_text(data)
    return Extraction(converter="csv", converter_version=encoding, sheets=[Sheet("", rows)])


# A text with so many columns of tabs in nearly all of more than a few rows is a table, with a header or without.
_MANY_COLUMNS, _FEW_ROWS, _LEAST_EVEN = 4, 3, 0.9


def _find_delimited(text: str) -> Sheet | None:
    head = text[:20_000]
    for delimiter in ("\t", ",", ";", "|", "，"):
        if head.count(delimiter) < 3:
            continue
        if delimiter == "|" and any(map(_RULE_ROW.fullmatch, head.split("\n"))):
            return None  # a table of Markdown is read among the lines around it
        rows = _parse_rows(head, delimiter)
        counts = Counter(len(row) for row in rows if row)
        width, count = counts.most_common(1)[0] if counts else (0, 0)
        if width < 2:
            continue
        header = find_header(rows)
        is_even = width >= _MANY_COLUMNS and _LEAST_EVEN * counts.total() <= count > _FEW_ROWS
        is_pairs = (
            delimiter == "\t" and width == 2 and _LEAST_EVEN * counts.total() <= count and _are_pairs(rows)
        )
        if (header is not None and len(header.columns) >= 3) or (delimiter == "\t" and is_even) or is_pairs:
            return Sheet("", _parse_rows(text, delimiter))
    return None


def _are_pairs(rows: Sequence[list[str]]) -> bool:
    """Whether two columns are questions and their answers, as cards to learn by are exported."""
    found = guess_columns(rows)
    # numbers alone tell none apart: they are marks, `(5)` or `[3 marks]`
    answers = [_MARKS.sub("#", row[1]) for row in rows if len(row) > 1]
    is_told = found is not None and found.columns.get("stem") == 0 and found.columns.get("answer") == 1
    return is_told and len(rows) >= _FEW_ROWS and 2 * len({*answers}) > len(answers)


_MARKS = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


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
