"""Pictures in the texts of a question, numbered as the question has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.pieces import Piece, rewrite
from tasks.ingest.readers.extraction import FORMULA, IMAGE, PICTURE_MARK, SHOWN_MARK, read_picture_number
from tasks.ingest.words.grammar import answer_mark, is_closing_line
from tasks.ingest.words.labels import HEADING
from tasks.questions.pictures import write_mark


@dataclass
class KeptPictures:
    """The pictures of a document by their reader's numbers; `empty` ones show nothing."""

    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    empty: set[int] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def list_rows(self, sha256s: Iterable[str]) -> list[dict[str, Any]]:
        """The rows of the pictures with these hashes, each once, in the order of the document."""
        wanted = set(sha256s)
        found: dict[str, dict[str, Any]] = {}
        for _, row in sorted(self.rows.items()):
            if row["sha256"] in wanted:
                found.setdefault(row["sha256"], row)
        return list(found.values())


def name_pictures(
    texts: Sequence[tuple[str, str]], kept: KeptPictures
) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts (by place) of a question with its pictures named from 1, and these pictures."""
    numbers: dict[str, int] = {}
    pictures: list[dict[str, Any]] = []

    def name(place: str, mark: re.Match[str]) -> str:
        number = read_picture_number(mark)
        row = kept.rows.get(number) if number is not None else None
        if number in kept.empty and mark["sign"] == IMAGE:
            return ""
        if row is None:
            return mark["sign"]
        sha256 = row["sha256"]
        if sha256 not in numbers:
            numbers[sha256] = len(numbers) + 1
            pictures.append({"number": numbers[sha256], "sha256": sha256, "place": place})
        return write_mark(numbers[sha256])

    written = [
        SHOWN_MARK.sub(lambda mark, place=place: name(place, mark), text).strip()  # type: ignore[misc]
        if IMAGE in text or FORMULA in text
        else text
        for place, text in texts
    ]
    return written, pictures


# "如图1", "下图", "the figure below", "the map shows"; no "What does a weather map show?", "Sketch the curve below."
SPEAKS_OF_FIGURE = re.compile(
    r"(?:如|见|下|上|右|左|由)(?:下)?图|图\s*\d|这[是幅张][^，。？]{0,8}(?:图|漫画|照片)|(?i:\b(?:figure|diagram|graph|picture)\b(?: below| above| \d)?.{0,12}(?:shows?|shown|below|above))|"
    r"(?i:\b(?:the|this) (?:\w+ )?(?:map|drawing|sketch|photograph)\b(?: below| above| \d)?.{0,12}(?:shows|shown|below|above))|"
    r"(?i:shown in (?:the )?(?:fig|diagram))|"
    r"(?i:\b(?:shown in|look at|study) the (?:figure|diagram|graph|map|picture|drawing|photograph)\b)"
)


def give_to_who_refers(drafts: Sequence[Draft]) -> None:
    """Move pictures to the questions that they are of.

    A caption names the question (`第7题图`) or a figure of which one question alone speaks (`图3`). One without a caption that
    closes a question goes to the next one where only that speaks of a figure: of two questions in one section, the next
    without a picture of its own. That it was moved is among its doubts.
    """
    for draft in drafts:
        draft.stem = _give_captioned(draft.stem, draft, drafts)
        if draft.options:
            label, text = draft.options[-1]
            draft.options[-1] = label, _give_captioned(text, draft, drafts)
    for draft, following in pairwise(drafts):
        shown = "".join(text for _, text in following.options)
        if (
            draft.section != following.section
            or not SPEAKS_OF_FIGURE.search(following.stem)
            or IMAGE in following.stem
            or IMAGE in shown
            or SPEAKS_OF_FIGURE.search(draft.stem)
        ):
            continue
        offered = [] if draft.has_picture_below else [text for _, text in draft.options]
        *before, last = (draft.stem, *offered)
        tail = _TAIL.search(last)
        # A picture in other options, too, says that this one is an option's.
        if tail is None or any(IMAGE in text for text in before[1:]):
            continue
        if offered:
            draft.options[-1] = draft.options[-1][0], last[: tail.start()]
        else:
            draft.stem = last[: tail.start()]
        _give(following, tail[0].strip())


def _give(draft: Draft, shown: str) -> None:
    draft.stem = f"{draft.stem}\n{shown}"
    draft.notes.append("figure_between")


_OF_QUESTION = re.compile(r"[（(]?\s*(?:第\s*(\d{1,3})\s*题\s*图?|题\s*(\d{1,3})\s*图)\s*[)）]?")
# What may stand below a picture: `第7题图`, `图3 小车`, `Figure 2 and Figure 3`.
_CAPTION = re.compile(
    rf"(?:{_OF_QUESTION.pattern}|[（(]?\s*(?:图|(?i:fig(?:ure)?)\.?)\s*\d)(?!.*[。?？]).{{0,40}}$"
)
_OF_FIGURE = re.compile(r"\s*(?:图|(?i:fig(?:ure)?)\.?)\s*(\d{1,3}(?:[-.]\d{1,3})?)(?!\d)")


def _give_captioned(text: str, holder: Draft, drafts: Sequence[Draft]) -> str:
    """What is left of a text when others have the pictures that captions name as theirs."""
    if IMAGE not in text or "\n" not in text:
        return text
    kept: list[str] = []
    for line in text.split("\n"):
        form = _OF_QUESTION if _OF_QUESTION.search(line) else _OF_FIGURE
        captions = list(form.finditer(line))
        rows = _last_pictures(kept, len(captions))
        marks = [mark[0] for row in rows for mark in PICTURE_MARK.finditer(row)]
        is_row = len(captions) == len(marks) and not form.sub("", line).strip(" |()（）")
        owners: list[Draft | None] = [None] * len(marks)
        if form is _OF_QUESTION and is_row:
            owners = [_find_numbered(int(one[1] or one[2]), holder, drafts) for one in captions]
        elif form is _OF_FIGURE and captions and (is_row or not captions[0].start()):
            names = captions if is_row else captions[:1] * len(marks)
            owners = [_find_speaking(one[1], "\n".join(kept), holder, drafts) for one in names]
        for at, (mark, owner) in enumerate(zip(marks, owners, strict=True)):
            if owner is not None:
                said = captions[at][0] if is_row else line
                _give(owner, mark if form is _OF_QUESTION else f"{mark}\n{said.strip()}")
        own = [mark for mark, owner in zip(marks, owners, strict=True) if owner is None]
        if len(own) == len(marks):
            kept.append(line)
        else:
            kept[-len(rows) :] = ["".join(own)] if own else []
    return "\n".join(kept)


def list_below(lines: Sequence[str]) -> list[int]:
    """The places of pictures alone among lines, and of the captions below these."""
    found: list[int] = []
    for at, line in enumerate(lines):
        is_below = bool(found) and found[-1] + 1 == at
        if _count_alone(line) or (is_below and _CAPTION.match(line.strip())):
            found.append(at)
    return found


def speaks_of_figure(text: str) -> bool:
    """Whether a text speaks of a figure that is shown, or of one by its number."""
    return SPEAKS_OF_FIGURE.search(text) is not None or _OF_FIGURE.search(text) is not None


def _last_pictures(lines: Sequence[str], count: int) -> Sequence[str]:
    """The last lines, of pictures alone, that show so many; else the last one of these."""
    shown = [_count_alone(line) for line in lines]
    run = _take_run(range(len(lines) - 1, -1, -1), shown, set(), count)
    return lines[-len(run) :] if run else lines[-1:] if shown and shown[-1] else ()


def _find_numbered(number: int, holder: Draft, drafts: Sequence[Draft]) -> Draft | None:
    """The other question of a section with this number, where the holder has another one."""
    if number == holder.value:
        return None
    return next((one for one in drafts if one.value == number and one.section == holder.section), None)


def _find_speaking(figure: str, own: str, holder: Draft, drafts: Sequence[Draft]) -> Draft | None:
    """The one other question that speaks of a figure, where the text above it does not."""
    if _speaks_of(figure, own):
        return None
    speaking = [one for one in drafts if one is not holder and _speaks_of(figure, one.stem)]
    return speaking[0] if len(speaking) == 1 else None


def _speaks_of(figure: str, text: str) -> bool:
    return any(one[1] == figure for one in _OF_FIGURE.finditer(text))


_TAIL = re.compile(rf"(?<=\S)(?:\s*{PICTURE_MARK.pattern})+\s*$")


def settle_pictures(drafts: Sequence[Draft]) -> None:
    """Let the picture below the last option be in the stem.

    It is the question's where no other option has one, and this option says something besides; so is one beside another
    option of a stem that speaks of a figure and has none.
    """
    for draft in drafts:
        showing = [at for at, (_, text) in enumerate(draft.options) if IMAGE in text]
        if len(draft.options) < 2 or len(showing) != 1:
            continue
        label, text = draft.options[showing[0]]
        tail = _TAIL.search(text)
        is_asked = IMAGE not in draft.stem and SPEAKS_OF_FIGURE.search(draft.stem)
        if tail is not None and (is_asked or showing[0] + 1 == len(draft.options)):
            draft.options[showing[0]] = label, text[: tail.start()]
            draft.stem = f"{draft.stem}\n{tail[0].strip()}"


def place_pictures(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with every picture in the line, and beside the letter, that it is of."""
    if not any(IMAGE in piece.text for piece in pieces):
        return pieces
    pieces = part_captions(drop_closing(drop_codes(list(map(_open_by_number, pieces)))))
    return follow_sections(follow_habit(label_pictures(lower_to_options(lower_pictures(pieces)))))


# Below the line that closes a paper stand so few lines: a seal, a code, who printed it.
_MOST_CLOSING = 6
# `Examiner's signature: ______`, `监考人（签名）：`: who signs a paper
_SIGNED = re.compile(
    r"(?!.*[?？])[^:：_]{0,24}(?:签[名字章]|盖章|(?i:\b(?:signatures?|signed|approved|stamp)\b))[^:：_]{0,16}(?:[:：]|_{3,}|$)"
)


def drop_closing(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper without the pictures below the line that closes it."""
    below = pieces[-_MOST_CLOSING:]
    end = next(
        (at for at, piece in enumerate(below) if is_closing_line(piece.text) or _SIGNED.match(piece.text)),
        None,
    )
    if end is None or any(piece.label or answer_mark().match(piece.text) for piece in below[end + 1 :]):
        return pieces
    closing = [piece for piece in below[end:] if not _count_alone(piece.text)]
    return [*pieces[: len(pieces) - len(below) + end], *closing]


def part_captions(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with captions in the cells of their pictures on a line below these."""
    parted: list[Piece] = []
    for piece in pieces:
        parted.append(piece)
        cells = piece.text.split("|") if piece.kind == "table" and IMAGE in piece.text else []
        said = [PICTURE_MARK.sub("", cell).strip() for cell in cells]
        if len(cells) > 1 and all(map(_CAPTION.match, said)) and all(map(PICTURE_MARK.search, cells)):
            shown = [mark[0] for mark in PICTURE_MARK.finditer(piece.text)]
            parted[-1:] = [
                replace(piece, text="    ".join(texts), sources=(), kind="body", label_length=0)
                for texts in (shown, said)
            ]
    return parted


# `[image] 3. Which part turns?`: the picture stands left of its question, or above its line.
_BEFORE_NUMBER = re.compile(
    rf"((?:\s*{PICTURE_MARK.pattern})+)\s*(?=(?:\d{{1,3}}\s*[.．、]|[（(]\d{{1,3}}[)）])(?!\d)\s*\S)"
)


def _open_by_number(piece: Piece) -> Piece:
    """A line that begins with its number, with the picture before that at its end."""
    found = _BEFORE_NUMBER.match(piece.text)
    if found is None:
        return piece
    piece = rewrite(piece, len(piece.text), f"  {found[1].strip()}", len(piece.text))
    return rewrite(piece, found.end(), "")


# `A．[image]B．[image]`: what parts two options is a picture.
_BEFORE_LABEL = re.compile(rf"{PICTURE_MARK.pattern}(?=[（(]?[B-H]\s*[)）.．、:：])")
# `[image] A | [image] B`: each with its letter below it, in one cell.
_ABOVE_LETTER = re.compile(
    rf"(?P<mark>{PICTURE_MARK.pattern})[\s|]*[（(]?(?P<letter>[A-H])[)）.．、:：]?(?=[\s|]|$)"
)
# `A [image]   B [image]`: right of its letter
_BESIDE_LETTER = re.compile(rf"(?P<letter>[A-H])\s*(?P<mark>{PICTURE_MARK.pattern})")
# `[image] A．beaker | [image] B．funnel`: each above its option, or in the row above it
_ABOVE_OPTION = re.compile(rf"{PICTURE_MARK.pattern}[\s|]*(?=[（(]?[A-H]\s*[)）.．、:：])")
_OPTION_CELL = re.compile(r"(?:^|\||\s{2})\s*[（(]?(?P<letter>[A-H])\s*[)）.．、:：]\s*(?=[^\s|])")
_LETTERS = re.compile(r"(?:[（(]?[A-H]\s*[)）.．、:：]?[\s|]+)+|(?:[（(]?[a-h]\s*[)）.][\s|]+)+")
_LETTER = re.compile(r"[A-H]")
_LEAST_LABELLED, _MOST_OFFERED = 2, 8


def label_pictures(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with every picture beside the letter of its option."""
    shown = [_count_alone(piece.text) for piece in pieces]
    changed: dict[int, Piece] = {}
    taken: set[int] = set()
    last = ""
    for place, piece in enumerate(pieces):
        if place in taken:
            continue
        if IMAGE in piece.text:
            turns = _read_turns(pieces, shown, place)
            for at, letter in enumerate(turns):
                changed[place + 2 * at] = rewrite(pieces[place + 2 * at], 0, f"{letter}. ")
                taken.add(place + 2 * at + 1)
            form = _BESIDE_LETTER if _BESIDE_LETTER.match(piece.text.strip()) else _ABOVE_LETTER
            named = list(form.finditer(piece.text))
            if (
                len(named) >= _LEAST_LABELLED
                and not form.sub("", piece.text).strip(" |")
                and _run_on([one["letter"] for one in named], last)
            ):
                text = "  ".join(f"{one['letter']}. {one['mark']}" for one in named)
                changed[place] = replace(piece, text=text, sources=(), kind="body")
                last = named[-1]["letter"]
                continue
            text = _write_above(pieces, place, last)
            if text:
                last = _OPTION_CELL.findall(text)[-1]
                is_row = _ABOVE_OPTION.match(piece.text) is None
                changed[place] = replace(piece, text=text, sources=(), kind="body")
                taken.update({place + 1} if is_row else ())
                continue
            for mark in reversed(list(_BEFORE_LABEL.finditer(piece.text))):
                changed[place] = rewrite(changed.get(place, piece), mark.end(), f"{mark[0]}  ", mark.start())
            continue
        rows = _take_letters(pieces, place)
        letters = [letter for row in rows for letter in _LETTER.findall(row.text.upper())]
        end = place + len(rows)
        if len(letters) < _LEAST_LABELLED or not _run_on(letters, last):
            continue
        if rows[0].text.islower() and end < len(pieces) and _OF_FIGURE.match(pieces[end].text):
            continue  # `(a) (b) (c)` above `Figure 1` are its parts
        for own in (range(place - 1, -1, -1), range(end, len(pieces))):
            run = _take_run(own, shown, taken, len(letters))
            if run:
                marks = [mark[0] for at in sorted(run) for mark in PICTURE_MARK.finditer(pieces[at].text)]
                text = "  ".join(f"{letter}. {mark}" for letter, mark in zip(letters, marks, strict=True))
                changed[place] = replace(piece, text=text, sources=(), kind="body")
                taken.update(run, range(place + 1, end))
                last = letters[-1]
                break
    if not changed:
        return pieces
    return [changed.get(place, piece) for place, piece in enumerate(pieces) if place not in taken]


def _write_above(pieces: Sequence[Piece], place: int, last: str) -> str:
    """The options of a row with their pictures, where these stand above their letters."""
    piece, below = pieces[place], pieces[place + 1] if place + 1 < len(pieces) else None
    marks = [mark[0] for mark in PICTURE_MARK.finditer(piece.text)]
    if len(marks) < _LEAST_LABELLED:
        return ""
    text = PICTURE_MARK.sub("", piece.text).strip(" |")
    if len(_ABOVE_OPTION.findall(piece.text)) != len(marks) or not _ABOVE_OPTION.match(piece.text):
        is_table = below is not None and piece.kind == below.kind == "table"
        if below is None or text or not (is_table or _offers_all(pieces, place, last)):
            return ""
        text = below.text
    cells = list(_OPTION_CELL.finditer(text))
    if len(cells) != len(marks) or cells[0].start():
        return ""
    ends = [one.start() for one in cells[1:]] + [len(text)]
    return "  ".join(
        f"{text[one.start() : one.end()].strip(' |')} {mark} {text[one.end() : end].strip()}"
        for one, end, mark in zip(cells, ends, marks, strict=True)
    )


def _offers_all(pieces: Sequence[Piece], place: int, last: str) -> bool:
    """Whether each option has a picture above it, in rows from A or after the last letter."""
    letters: list[str] = []
    while place + 1 < len(pieces) and (count := _count_alone(pieces[place].text)):
        row = _OPTION_CELL.findall(pieces[place + 1].text)
        if len(row) != count:
            break
        letters += row
        place += 2
    following = pieces[place].text if place < len(pieces) else ""
    is_more = (
        bool(letters)
        and _OPTION.match(following)
        and following.strip(" (（")[:1] == chr(ord(letters[-1]) + 1)
    )
    return (
        (len(letters) > _LEAST_LABELLED or bool(letters and last)) and _run_on(letters, last) and not is_more
    )


def _run_on(letters: Sequence[str], last: str) -> bool:
    """Whether letters run on from A, or from the last one before them."""
    following = chr(ord(last) + 1) if last else "A"
    return letters[0] in ("A", following) and all(
        ord(letter) == ord(letters[0]) + by for by, letter in enumerate(letters)
    )


def _read_turns(pieces: Sequence[Piece], shown: Sequence[int], place: int) -> list[str]:
    """The letters of lines that take turns with pictures, each below its own; [] where none do."""
    letters: list[str] = []
    while place + 1 < len(pieces) and shown[place] == 1:
        letter = pieces[place + 1].text.strip(" .．、()（）")
        if letter != chr(ord("A") + len(letters)):
            break
        letters.append(letter)
        place += 2
    # one more picture below the last: then each stands below its letter
    is_below = place < len(pieces) and shown[place]
    return letters if len(letters) >= _LEAST_LABELLED and not is_below else []


def _take_letters(pieces: Sequence[Piece], place: int) -> list[Piece]:
    """The row of letters at a place, on one line or on a line each; [] where none is."""
    rows = list(
        takewhile(lambda piece: _LETTERS.fullmatch(f"{piece.text} "), pieces[place : place + _MOST_OFFERED])
    )
    return rows if all(len(piece.text.split()) == 1 for piece in rows) else rows[:1]


# `Use the map above to answer questions 4 and 5.`, `读上图，完成4～5题。`
_ABOVE = re.compile(
    r"(?=.*\d\s*(?:[-–—~～至、,，]|and|to|or)\s*\d)(?=.*(?:\d\s*[两二]?小?题|(?i:\bquestions?\b)))"
    r"(?!\s*(?:【|[解答析]|(?i:answer|solution|explanation)s?\b)).*"
    r"(?:上图|(?i:\b(?:figure|diagram|graph|map|picture|chart|drawing|photograph)s? above))"
)


def lower_pictures(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with pictures below the lines that name questions on what is above."""
    ordered = list(pieces)
    for at, (piece, following) in enumerate(pairwise(pieces)):
        if _count_alone(piece.text) and len(following.text) < _LONGEST_LEAD and _ABOVE.match(following.text):
            ordered[at : at + 2] = following, piece
    return ordered


_LONGEST_LEAD = 120


# `扫码关注公众号，获取更多试题`, `Scan the QR code for the answers`.
_CODE = re.compile(
    r"(?=.{4,60}$)(?!.*[?？_]|.*[如下上]图|.*[（(]\s*[)）])[（(【*]?\s*"
    r"(?:(?:更多|获取|查看|领取|下载)[^，。扫关请]{0,12}[，,]?)?(?:请|欢迎|微信|用|手机|打开|长按|识别|\s)*+"
    r"(?:扫码|扫一扫|扫描|[^，。]{0,4}二维码|关注[^，。]{0,10}公众号|(?i:(?:please )?scan\b.{0,20}\bcode\b|(?:the )?QR code))"
    r".*?(?:公众号|关注|获取|领取|查看|观看|视频|微课|讲解|解析|答案|下载|进群|更多|(?i:video|answer|solution|more))"
)


def drop_codes(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper without pictures below or above a line that tells to scan them."""
    left_out: set[int] = set()
    for place, piece in enumerate(pieces):
        text = PICTURE_MARK.sub("", piece.text)
        if piece.label is not None or _OPTION.match(text) or not _CODE.match(text.strip()):
            continue
        own = [at for at in (place + 1, place - 1) if 0 <= at < len(pieces) and _count_alone(pieces[at].text)]
        if text != piece.text or own:
            left_out |= {place, *(own[:1] if text == piece.text else ())}
    return [piece for place, piece in enumerate(pieces) if place not in left_out] if left_out else pieces


# `□ beaker`, `A．beaker`: an option on a line of its own
_OFFERED = re.compile(r"(?:[□☐○◯]|[（(]?[A-H]\s*[)）.．、:：])\s*(?=\S)")


def lower_to_options(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with the picture above each option in the line of this option.

    A picture below the last says that each stands below its option.
    """
    moved: dict[int, str] = {}
    at = 0
    while at + 1 < len(pieces):
        run = at
        while (
            run + 1 < len(pieces)
            and _count_alone(pieces[run].text) == 1
            and _OFFERED.match(pieces[run + 1].text)
        ):
            run += 2
        around = [pieces[place].text for place in (at - 1, run) if 0 <= place < len(pieces)]
        if run - at >= 2 * _LEAST_LABELLED and not any(
            _OFFERED.match(text) or _count_alone(text) for text in around
        ):
            moved |= {place: pieces[place].text for place in range(at, run, 2)}
        at = max(run, at + 1)
    if not moved:
        return pieces
    lowered = []
    for place, piece in enumerate(pieces):
        found = _OFFERED.match(piece.text) if place - 1 in moved else None
        if place not in moved:
            lowered.append(
                rewrite(piece, found.end(), f"{moved[place - 1]} ", found.end())
                if found is not None
                else piece
            )
    return lowered


# Of a habit: so many pictures show it, and one in so many may stand elsewhere.
_LEAST_HABIT, _HABIT_SHARE = 3, 10


def follow_habit(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper whose pictures all stand above questions, each in the line below.

    The first stands above question 1, further ones after options, or below a question that speaks of none. A picture right
    below the last question says the contrary: elsewhere a picture is of what it follows. One among closing words of such a
    paper is a seal or a portrait.
    """
    alone = [at for at, piece in enumerate(pieces) if _count_alone(piece.text)]
    first = pieces[alone[0] + 1].label if len(alone) >= _LEAST_HABIT and alone[0] + 1 < len(pieces) else None
    if first is None or first.value != 1:
        return pieces
    values = {
        at: one.label.value for at, one in enumerate(pieces) if one.label and one.label.style == first.style
    }
    last, counts_once = max(values), list(values.values()).count(1) == 1
    closing = [at for at in alone if at > last and counts_once]
    alone = alone[: len(alone) - len(closing)]
    if closing and (
        (
            closing[-1] + 1 == len(pieces)
            and (closing[-1] - 1 == last or _OPTION.match(pieces[closing[-1] - 1].text))
        )
        or any(SPEAKS_OF_FIGURE.search(piece.text) for piece in pieces[last:])
    ):
        return pieces
    above = [at for at in alone if at + 1 in values]
    is_habit = len(above) >= _LEAST_HABIT and (len(alone) - len(above)) * _HABIT_SHARE <= len(alone)
    offers = all(_OPTION.match(pieces[at - 1].text) for at in above[1:])
    before = [pieces[at - 1].text for at in (above[:1] if offers else above) if at]
    if (
        not is_habit
        or not (offers or (counts_once and alone[0]))
        or any(map(SPEAKS_OF_FIGURE.search, before))
    ):
        return pieces
    moved = {at + 1: pieces[at].text for at in above}
    return [
        rewrite(piece, len(piece.text), f"  {moved[at]}", len(piece.text)) if at in moved else piece
        for at, piece in enumerate(pieces)
        if at + 1 not in moved and at not in closing
    ]


def follow_sections(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper with the pictures above all questions of a section in their lines.

    Such a section begins with a picture below its heading, has one above every number, and none below its last question.
    """
    heads = [
        at for at, piece in enumerate(pieces) if piece.label is not None and piece.label.style in HEADING
    ]
    moved: dict[int, int] = {}
    for head, end in pairwise([*heads, len(pieces)]):
        own = range(head + 1, end)
        alone = [at for at in own if _count_alone(pieces[at].text)]
        asked = [at for at in own if _ASKED.match(pieces[at].text)]
        if len(alone) > 1 and alone[0] == head + 1 and [at + 1 for at in alone] == asked:
            moved |= {at + 1: at for at in alone}
    if not moved:
        return pieces
    left_out = set(moved.values())
    return [
        rewrite(piece, len(piece.text), f"  {pieces[moved[at]].text}", len(piece.text))
        if at in moved
        else piece
        for at, piece in enumerate(pieces)
        if at not in left_out
    ]


# `（　）1. This is`, `2．如图`: what asks in a section
_ASKED = re.compile(r"(?:[（(]\s*[)）]\s*)?\d{1,3}\s*[.．、](?!\d)")
_OPTION = re.compile(r"[（(]?[A-Ha-h]\s*[)）.．、:：]")


def _count_alone(text: str) -> int:
    """How many pictures a line shows that says nothing besides; 0 for one that does."""
    if IMAGE not in text or PICTURE_MARK.sub("", text).strip(" \t|"):
        return 0
    return len(PICTURE_MARK.findall(text))


def _take_run(places: Iterable[int], shown: Sequence[int], taken: set[int], count: int) -> list[int]:
    """The next lines of pictures alone that show so many together, or none."""
    run: list[int] = []
    for place in places:
        if not shown[place] or place in taken:
            break
        run.append(place)
        count -= shown[place]
        if count <= 0:
            return run if count == 0 else []
    return []
