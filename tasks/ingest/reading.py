"""One document from bytes to text and questions: what runs inside the child process."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.answer_files import read_name
from tasks.ingest.companions import apply_companion, is_key_alone, is_titled_key, read_answers
from tasks.ingest.confidence import Terms, judge_reading, shows_answers
from tasks.ingest.content.keys import match_keys, read_keys
from tasks.ingest.content.named_pictures import give_to_who_refers, settle_pictures
from tasks.ingest.content.questions import make_questions
from tasks.ingest.content.shared_pictures import share_pictures
from tasks.ingest.content.shown_keys import find_shown_keys
from tasks.ingest.contracts import KEY_SHOWN, UNREAD_LINES, Breach, Checked
from tasks.ingest.contracts.checking import SAID_BY_ERROR, note_neighbours
from tasks.ingest.contracts.coverage import MIN_COVERAGE
from tasks.ingest.intake import show_name
from tasks.ingest.layout.corrections import generalise, parse_correction
from tasks.ingest.mapping import find_mapped, read_mapping
from tasks.ingest.pictures import draw_small, give_written_answers, keep_pictures
from tasks.ingest.readers.extraction import (
    Extraction,
    Line,
    blank_picture_numbers,
    join_lines,
    read_picture_number,
)
from tasks.ingest.readers.formats import ask_for_ocr, extract, find_reader
from tasks.ingest.readers.keeping import keep_read, take_read
from tasks.ingest.readers.page_boxes import list_boxes
from tasks.ingest.readers.sniffing import MEDIA_TYPES, sniff
from tasks.ingest.second_reader import (
    PagePictures,
    PointedReading,
    ShownLines,
    list_lines,
    parse_said,
    read_pointed,
    show_lines,
)
from tasks.ingest.splitting import Split, split_lines
from tasks.ingest.tables.records import split_records
from tasks.ingest.tables.sheets import split_sheets
from tasks.ingest.words.cleaning import detect_language
from tasks.ingest.words.disciplines import find_discipline, name_discipline
from tasks.ingest.words.once import forget_paper
from tasks.running import without_collecting

MAX_TEXT = 20_000_000


def read_document(
    path: Path, document: dict[str, Any], options: Mapping[str, Any], content: str | None = None
) -> dict[str, Any]:
    """Read, split and describe one document.

    Returns `{document, text, questions, pictures}` ready for JSON. `document` comes with its identity (id, sha256, name, source
    path, size). Problems of the document become its status and error; only faults of ours raise. `content` is a copy to
    be read in the place of the file: what was read of it for a second reader is kept beside it, and taken when that has `said` something.
    """
    try:
        if options.get("said") and content and (kept := take_read(content)) is not None:
            return read_extraction(kept[0], path, document, options, lambda: kept[1])
        data = Path(content or path).read_bytes()
        kind = sniff(data, path.name)
        document["media_type"] = MEDIA_TYPES[kind]
        reader = find_reader(kind, path.name)
        document["media_type"] = reader.media_type
        extraction = extract(data, reader, {**options, "folder": path.parent.resolve()})
        answers = cache(lambda: read_answers(extraction, options))
        if options.get("shows_lines") and content and not options.get("said"):
            keep_read(content, extraction, answers())
        return read_extraction(extraction, path, document, options, answers)
    except DocumentError as error:
        document["status"], document["error"] = error.code, str(error)
    return {"document": document, "text": None, "questions": [], "pictures": []}


@without_collecting()
def read_extraction(
    extraction: Extraction,
    path: Path,
    document: dict[str, Any],
    options: Mapping[str, Any],
    answers: Callable[[], Extraction | None] = lambda: None,
) -> dict[str, Any]:
    """Split what a reader handed over and describe the document.

    Returns what `read_document` does. With the option `shows_lines` also what a second reader is shown (`shown`), with `shows_pictures`
    its pictures, too; with `said` the questions are those that such a reader points at, and `refused` counts what it points at that is not
    there. `answers` gives what the answer file holds, whose pictures the paper then has.

    Raises:
        DocumentError: for records that cannot be read.
    """
    # Sheets and records ask of their texts, too, and are split by no line.
    forget_paper()
    mapping = read_mapping(options.get("mapping_file"))
    second = _read_second(extraction, options, answers)
    if second.pointed is None:
        split, raw, pages = _split(extraction, mapping["columns"], options)
        is_key = read_name(path.stem).is_key or is_titled_key(extraction.lines)
        asks = bool(split.drafts) and not (is_key and is_key_alone(split, options, path.stem))
        if is_key and not asks and not split.keys:
            split.keys = match_keys([], read_keys(extraction.lines), None).left
    else:
        split, asks = second.pointed.split, True
        raw, _, pages = join_lines(list_lines(extraction))
    raw = blank_picture_numbers(raw)
    given = _count_answers(split)
    if split.drafts and not asks:
        split.drafts.clear()
        split.warnings.clear()  # they speak of a paper
    apply_companion(split, options, extraction, answers)
    document["page_count"] = extraction.page_count
    document["converter"] = extraction.converter
    document["language"] = split.language or detect_language(raw)
    document["warnings"] = [*document["warnings"], *extraction.warnings, *split.warnings]
    _note_shown_keys(split, document)
    describe(document, raw[:2000], path, options, mapping)
    text = {
        "document_id": document["document_id"],
        "text": raw[:MAX_TEXT],
        "char_count": len(raw),
        "page_offsets": pages,
        "line_boxes": list_boxes(extraction.lines) if pages else [],
        "converter": extraction.converter,
        "converter_version": extraction.converter_version,
    }
    if len(raw) > MAX_TEXT:
        document["warnings"].append(f"The text was cut after {MAX_TEXT} of {len(raw)} characters.")
    # where somebody said whose they are no rule moves them
    placed = second.pointed.placed if second.pointed is not None else frozenset()
    if extraction.pictures and not placed:
        share_pictures(split.drafts)
        give_to_who_refers(split.drafts)
    kept = keep_pictures(split.drafts, extraction, placed)
    document["warnings"].extend(kept.warnings)
    if kept.rows and not placed:
        give_written_answers(split.drafts, kept)
    if not placed:
        settle_pictures(split.drafts)
    questions, repeated = make_questions(split.drafts, document, document["language"], extraction.notes, kept)
    if repeated:
        document["warnings"].append(
            f"{repeated} of {len(split.drafts)} questions repeat another of this document and were left out."
        )
    document["question_count"] = len(questions)
    if any(line.sure is not None for line in extraction.lines):
        note_sureness(questions, extraction.lines, join_lines(extraction.lines)[1])
    checked = doubt_unread(split.checked, extraction.lines)
    shows = _may_show_answers(split, raw, questions, checked) or shows_answers(
        raw, questions, extraction.lines
    )
    judge_reading(document, questions, raw, checked, Terms.from_options(options), shows_answers=shows)
    if not questions and extraction.unread:
        document["status"], document["error"] = "needs_ocr", ask_for_ocr(extraction.unread)
    elif not questions:
        document["status"], document["error"] = (
            "no_questions",
            _explain_nothing(raw, split, given, options.get("answered")),
        )
    pictures = kept.list_rows(
        picture["sha256"] for question in questions for picture in question["pictures"] or ()
    )
    result = {"document": document, "text": text, "questions": questions, "pictures": pictures}
    return result | second.as_result()


# a reading that keeps less may have lost them
_LEAST_KEPT = 0.9


def _may_show_answers(
    split: Split, text: str, questions: Sequence[Mapping[str, Any]], checked: Checked
) -> bool:
    """Whether a reading is too unsure to say that the paper prints no answers.

    Of a short paper no contract says that a section above its first question was not read.
    """
    held = sum((row["text_end"] or 0) - (row["text_start"] or 0) for row in questions)
    return (
        bool(split.keys)
        or checked.score < _LEAST_KEPT
        or held < MIN_COVERAGE * len(text)
        or 2 * sum("number_missing" in row["parse_notes"] for row in questions) > len(questions)
    )


@dataclass(frozen=True)
class _Second:
    """What concerns a second reader: the lines that it is shown, what it pointed at."""

    shown: ShownLines | None = None
    pointed: PointedReading | None = None
    drawn: Mapping[int, str] = field(default_factory=dict)

    def as_result(self) -> dict[str, Any]:
        """What goes back with a document."""
        if self.pointed is not None:
            return {"refused": self.pointed.refused}
        return {} if self.shown is None else {"shown": self.shown.describe(self.drawn)}


def _read_second(
    extraction: Extraction, options: Mapping[str, Any], answers: Callable[[], Extraction | None]
) -> _Second:
    """What a second reader is to be shown of a paper and its answer file, or has said of them."""
    said = options.get("said")
    if not (options.get("shows_lines") or said):
        return _Second()
    shown = show_lines(extraction, answers())
    if said:
        return _Second(shown, read_pointed(shown, parse_said(str(said)), PagePictures(extraction)))
    return _Second(shown, None, _draw(shown, extraction) if options.get("shows_pictures") else {})


def _draw(shown: ShownLines, paper: Extraction) -> dict[int, str]:
    """The pictures of the lines that are shown, by their numbers there."""
    names = {number: read_picture_number(mark) for number, (_, mark) in shown.pictures.items()}
    small = draw_small(sorted({at for at in names.values() if at is not None}), paper)
    return {number: small[at] for number, at in names.items() if at in small}


def _note_shown_keys(split: Split, document: dict[str, Any]) -> None:
    """Note the questions in which a candidate could read the key.

    Several that are alike break a contract.
    """
    left, single = find_shown_keys(split.drafts)
    for draft in (*left, *single):
        draft.notes.append(KEY_SHOWN)
    if left:
        words = f"{len(left)} questions show what may be their key ({left[0].number_label or left[0].stem[:20]!r}), and it could not be told."
        breach = Breach(KEY_SHOWN, left[0].start, len(left), words)
        split.checked = replace(split.checked, breaches=(*split.checked.breaches, breach))
    if single:
        named = ", ".join(draft.number_label or f"{draft.stem[:12]}…" for draft in single[:6])
        document["warnings"].append(
            f"{len(single)} questions may show their key in stem or options ({named})."
        )


def _split(
    extraction: Extraction, columns: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Split, str, list[int]]:
    """Return the questions of lines, sheets or records, and the raw text.

    Also where in the text its pages or sheets begin.
    """
    if extraction.records is not None:
        found = split_records(extraction.records, columns)
        note_neighbours(found.drafts)
        return Split(found.drafts, language=found.language, warnings=found.warnings), found.text, []
    if extraction.sheets:
        found = split_sheets(extraction.sheets, columns)
        note_neighbours(found.drafts)
        split = Split(found.drafts, language=found.language, warnings=found.warnings)
        if found.drafts:
            return split, found.text, found.pages
        return *_read_sheets_as_text(extraction, split, found.text), []
    raw, starts, pages = join_lines(extraction.lines)
    own = options.get("correction")
    layouts = [generalise(text) for text in options.get("layouts") or ()]
    correction = parse_correction(own) if own else None
    return split_lines(extraction.lines, starts, correction, layouts), raw, pages


def _read_sheets_as_text(extraction: Extraction, split: Split, raw: str) -> tuple[Split, str]:
    """Read sheets without question columns as the lines of a paper.

    Some people type a whole paper into one column.
    """
    lines = [
        Line("  ".join(cell.replace("\n", " ") for cell in row if cell.strip()))
        for sheet in extraction.sheets
        for row in sheet.rows
    ]
    text, starts, _ = join_lines(lines)
    found = split_lines(lines, starts)
    return (found, text) if found.drafts else (split, raw)


def _count_answers(split: Split) -> int:
    """How many answers a document gives, to questions of its own or of another."""
    return len(split.keys) + sum(1 for one in split.drafts if one.answer)


def _explain_nothing(raw: str, split: Split, answers: int, answered: str | None) -> str:
    if split.keys and answered is not None:
        paper = show_name(Path(Path(answered).name))
        return (
            f"The document holds {answers} answers and no questions: it is the key of {paper} beside it, and nothing is wrong with it. "
            f"If {paper} was read before its key was there, give it its answers with --again."
        )
    if split.keys:
        return f"The document holds {answers} answers and no questions: it is the key of another paper."
    if not raw.strip():
        return "The document holds no text. If it is a picture of a paper, scan it as PDF."
    for breach in split.checked.breaches:
        if breach.contract in SAID_BY_ERROR:
            return f"{breach.words} Check its layout."
    return "No numbered question, option list or question table was recognised in the text. Check its layout."


_FINAL = re.compile(r"期末|期中|本科生|课程考试|(?i:final exam|mid-?term|undergraduate)")
_ENTRANCE = re.compile(
    r"考研|研究生入学|硕士(?:研究生)?(?:入学|招生)|博士(?:研究生)?入学|(?i:postgraduate entrance|graduate entrance|entrance examination for)"
)


def describe(
    document: dict[str, Any], head: str, path: Path, options: Mapping[str, Any], mapping: Mapping[str, Any]
) -> None:
    """Find discipline and source kind by mapping, folders, file name and the head of the paper.

    They are tried in this order.
    """
    merged = {**mapping["disciplines"], **(options.get("discipline_map") or {})}
    source = str(document["source_path"])
    mapped = find_mapped(source, merged)
    found = name_discipline(mapped) if mapped is not None else None
    if found is None:
        folders = list(reversed(path.parent.parts[-4:]))
        named = [
            name
            for name in (name_discipline(part) if part in _disciplines() else None for part in folders)
            if name
        ]
        found = named[0] if named else find_discipline([path.stem, *folders, *_titles(head)])
    if found is not None:
        document["discipline"], document["sub_discipline"] = found
    if options.get("source_kind"):
        document["source_kind"] = options["source_kind"]
        return
    hint = f"{source}\n{head[:800]}"
    if _ENTRANCE.search(hint):
        document["source_kind"] = "postgraduate_entrance"
    elif _FINAL.search(hint):
        document["source_kind"] = "undergraduate_final"


def _disciplines() -> tuple[str, ...]:
    from schemas.vocabulary import DISCIPLINES

    return DISCIPLINES


def _titles(head: str) -> list[str]:
    """The lines before the first question that name a course: `《…》` first, then the short ones."""
    lines = [line for line in head.split("\n")[:15] if line.strip()]
    quoted = [
        match for line in lines for match in re.findall(r"《([^》]{2,40})》", line) if "学位" not in match
    ]
    named = re.findall(r"(?:课程名称|考试科目|科目|Course|Subject)\s*[:：]\s*([^\n]{2,40})", "\n".join(lines))
    return [*named, *quoted, *(line for line in lines[:6] if len(line) < 60)]


READ_BY_OCR, UNSURE, DIFFERENT = "ocr", "ocr_unsure", "readings_differ"
# Of 120 questions of scans half were wrong whose characters were read less surely, and one in seventeen of the others.
LEAST_SURE = 0.98
# Of 28 that another program had read before, six of seven were wrong where so little agreed, and none of the others.
LEAST_AGREED = 0.93
# A text layer of which hardly anything agrees was never made from this page.
LEAST_OF_PAGE = 0.5


def note_sureness(questions: Sequence[dict[str, Any]], lines: Sequence[Line], starts: Sequence[int]) -> None:
    """Note of questions that OCR read them, how surely, and whether a scanner read the same.

    `questions` are rows on their way to be landed, `starts` the offsets of the lines in the raw text.
    """
    other = {page for page in {line.page for line in lines} if _agreed_on(lines, page) < LEAST_OF_PAGE}
    for row in questions:
        first, last = row["text_start"], row["text_end"]
        if first is None or last is None:
            continue
        begin = max(bisect_left(starts, first + 1) - 1, 0)
        own = [
            line for line in lines[begin : max(bisect_left(starts, last), begin + 1)] if line.sure is not None
        ]
        if not own:
            continue
        found = [READ_BY_OCR]
        if _weigh(own, lambda line: line.sure) < LEAST_SURE:
            found.append(UNSURE)
        if _weigh([line for line in own if line.page not in other], lambda line: line.agreed) < LEAST_AGREED:
            found.append(DIFFERENT)
        row["parse_notes"] = list(dict.fromkeys([*row["parse_notes"], *found]))


# In no scan that was read well more than 3% of the lines were read less surely; of one half in another script 25% were.
LEAST_READ, MOST_UNREAD, LEAST_LINES = 0.9, 0.15, 12


def doubt_unread(checked: Checked, lines: Sequence[Line]) -> Checked:
    """What was checked of a paper, with a breach that holds it where OCR read badly.

    Lines that OCR could not read are print of a script that it does not know, handwriting, or a picture too bad to read.
    """
    seen = [line for line in lines if line.sure is not None and len(line.text.strip()) > 1]
    unread = sum(1 for line in seen if (line.sure or 0.0) < LEAST_READ)
    if len(seen) < LEAST_LINES or unread < MOST_UNREAD * len(seen):
        return checked
    words = (
        f"OCR could hardly read {unread} of {len(seen)} lines: they are in another script, written by hand, or "
        "the picture is bad."
    )
    return replace(checked, breaches=(Breach(UNREAD_LINES, 0, unread, words), *checked.breaches), score=0.0)


def _agreed_on(lines: Sequence[Line], page: int) -> float:
    return _weigh([line for line in lines if line.page == page], lambda line: line.agreed)


def _weigh(lines: Sequence[Line], tell: Callable[[Line], float | None]) -> float:
    """The mean of what is told of lines, by their length; 1 where nothing is."""
    told = [(len(line.text), value) for line in lines if (value := tell(line)) is not None]
    total = sum(size for size, _ in told)
    return sum(size * value for size, value in told) / total if total else 1.0
