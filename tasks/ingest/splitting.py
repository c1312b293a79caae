"""Splitting a paper's text into questions by rules for layouts, never for single papers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

from schemas import patterns as re
from tasks.ingest.content.answer_leads import cut_answer_leads
from tasks.ingest.content.choices import (
    ask_in_passage,
    cut_after_options,
    cut_badges,
    offer_lettered,
    offer_plain,
    settle_orders,
    take_chosen,
    take_keys_below,
)
from tasks.ingest.content.drafts import KEYED_TYPES, Draft
from tasks.ingest.content.fields import read_content
from tasks.ingest.content.format_answers import take_format_answers, take_format_keys
from tasks.ingest.content.free_answers import (
    drop_asking_lead,
    keep_translations,
    settle_computed,
    take_below,
)
from tasks.ingest.content.judged_statements import (
    cut_both_judgements,
    read_corrections,
    read_judged_below,
    read_judged_letters,
    read_rings,
)
from tasks.ingest.content.key_marks import KeyPart
from tasks.ingest.content.key_regions import take_regions
from tasks.ingest.content.keys import choose_parts, match_keys
from tasks.ingest.content.named_pictures import place_pictures
from tasks.ingest.content.printed_marks import take_form_tails
from tasks.ingest.content.section_answers import (
    asks_above_types,
    cut_margins,
    cut_numbers_again,
    cut_own_number,
    drop_form_lines,
    drop_omitted,
    find_filled,
    find_offering,
    part_glued,
    prints_answers,
    read_answers_below,
    read_bracketed_ends,
    read_filled,
    read_small_keys,
    take_explanations,
)
from tasks.ingest.content.section_keys import part_answers, take_key_lines
from tasks.ingest.content.shown_keys import take_shown_keys
from tasks.ingest.content.three_judgements import offer_three_judgements
from tasks.ingest.contracts import Checked
from tasks.ingest.contracts.asking import is_no_paper, list_silent
from tasks.ingest.contracts.checking import check_reading, describe_breaches, note_breaches
from tasks.ingest.contracts.contents import list_held
from tasks.ingest.contracts.coverage import find_unclaimed
from tasks.ingest.contracts.readings import ContractCheck, Reading, Stretch, measure_alike
from tasks.ingest.layout.chapter_numbers import part_lone_chapters
from tasks.ingest.layout.corrections import Correction
from tasks.ingest.layout.equation_numbers import drop_equation_numbers
from tasks.ingest.layout.furniture import (
    drop_notices,
    drop_page_numbers,
    is_noise,
    move_brackets,
    write_leading_keys,
    write_numbered_answers,
    write_scripts,
)
from tasks.ingest.layout.heading_search import drop_part_labels
from tasks.ingest.layout.headings import FORM, has_options_ahead
from tasks.ingest.layout.headlines import (
    NO_HEADLINES,
    Headlines,
    count_asked,
    cut_answer_mark,
    find_headlines,
    find_titles,
)
from tasks.ingest.layout.judging import write_judgements
from tasks.ingest.layout.key_blocks import write_key_blocks
from tasks.ingest.layout.key_chains import write_key_chain
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.layout.marks import write_marks
from tasks.ingest.layout.matching import write_banks, write_gaps, write_matching, write_passages, write_ranges
from tasks.ingest.layout.numbered_gaps import write_numbered_gaps
from tasks.ingest.layout.numbers import last_number
from tasks.ingest.layout.outlines import (
    ASKING,
    Outline,
    add_headings,
    count_on,
    head_by_print,
    head_by_titles,
    propose_outlines,
)
from tasks.ingest.layout.pieces import IndexedLines, Piece, join_pieces, make_pieces
from tasks.ingest.layout.rules import leave_out_front_lists, leave_out_rules
from tasks.ingest.layout.section_questions import split_section
from tasks.ingest.layout.sections import Section, divide, drop_title, may_choose
from tasks.ingest.layout.series import Repeated
from tasks.ingest.layout.tails import find_tails
from tasks.ingest.readers.extraction import PICTURE_MARK, Line
from tasks.ingest.tables.numbered_cells import part_cells
from tasks.ingest.tables.paper_tables import PaperTables
from tasks.ingest.words.answers import has_colon
from tasks.ingest.words.cleaning import clean_text, detect_language
from tasks.ingest.words.labels import Label, parse_label
from tasks.ingest.words.lexicon import FineType, match_exactly
from tasks.ingest.words.once import forget_paper
from tasks.ingest.words.points import COUNTS_POINTS
from tasks.ingest.words.signs import ends_asking


@dataclass
class Split:
    """The questions of one paper, and what did not fit.

    These are the answers that found no question, and sentences on what was odd. `headings` are the offsets of the lines that
    head its sections.
    """

    drafts: list[Draft]
    keys: list[KeyEntry] = field(default_factory=list)
    language: str | None = None
    warnings: list[str] = field(default_factory=list)
    checked: Checked = field(default_factory=Checked)
    headings: tuple[int, ...] = ()


def split_lines(
    lines: Sequence[Line],
    starts: Sequence[int],
    correction: Correction | None = None,
    layouts: Sequence[Correction] = (),
) -> Split:
    """Split the lines of a document into drafts of questions.

    `correction` is how a person divided this paper, which then is its reading; `layouts` are how others of its source were
    divided, each of which is one more reading.

    `starts` are the offsets of the lines in the raw text. Answers printed at the end of the paper are
    matched to their questions; those that match none are returned in `keys` (a separate answer file
    consists of nothing else).
    """
    forget_paper()
    lines, starts = part_cells(lines, starts)
    pieces = leave_out_front_lists(prepare_pieces(lines, starts))
    language = detect_language("\n".join(piece.text for piece in pieces if not _asks_name(piece.text)))
    repeated = Repeated(pieces)
    paper = LinedPaper(
        lines,
        starts,
        pieces,
        language,
        PaperTables(lines, starts, language),
        repeated,
        find_headlines(pieces, lines, starts),
    )
    marked = None if correction is None else _read_corrected(paper, correction)
    best = marked or _read_outline(paper, None)
    if marked is None:
        if best.checked.score < DOUBTFUL:
            best = _choose(best, paper)
        best = _try_layouts(best, paper, layouts)
        if is_no_paper(best.drafts):
            best.drafts = []  # the breach says so
    note_breaches(best.found)
    return _describe(best)


def prepare_pieces(lines: Sequence[Line], starts: Sequence[int]) -> list[Piece]:
    """The lines as every reading begins: cleaned, with the marks that repeat in known forms."""
    printed = drop_page_numbers(make_pieces(lines, starts))
    made = write_leading_keys(write_scripts(IndexedLines(place_pictures(printed))))
    judged = write_judgements(write_marks(write_numbered_answers(made)))
    judged = part_lone_chapters(drop_equation_numbers(judged))
    gapped = write_numbered_gaps(write_gaps(write_banks(write_matching(write_key_chain(judged)))))
    ranged = write_ranges(write_passages(gapped))
    return drop_part_labels(write_key_blocks(ranged))


def _read_corrected(paper: LinedPaper, correction: Correction) -> ReadPaper | None:
    """The reading that a person's marks make; None where no line of the paper has one."""
    marked = correction.apply(paper.pieces)
    if marked is None:
        return None
    pieces, outline = marked
    return _read_outline(replace(paper, pieces=pieces, repeated=Repeated(pieces)), outline)


# So much worse may what a paper says of itself hold in a reading by a person's marks that finds more questions.
_WORSE_BY_LAYOUT = 0.02


def _try_layouts(best: ReadPaper, paper: LinedPaper, layouts: Sequence[Correction]) -> ReadPaper:
    """The best among this reading and those by marks made in papers of the same source."""
    for layout in layouts:
        other = _read_corrected(paper, layout)
        if other is None:
            continue
        gain = other.checked.score - best.checked.score
        if (gain > 0 and other.sound >= best.sound) or (
            gain > -_WORSE_BY_LAYOUT and other.sound > best.sound
        ):
            other.warnings.append("Divided by the marks that a person made in another paper of this source.")
            best = other
    return best


def _choose(first: ReadPaper, paper: LinedPaper) -> ReadPaper:
    """The reading that keeps most contracts; the first where no other gains enough."""
    tried: list[ReadPaper] = []
    best = first

    def take(outlines: Iterable[Outline]) -> None:
        nonlocal best
        for outline in outlines:
            if best.checked.score >= _BEST:
                return
            other = _read_outline(paper, outline)
            other.outline = outline
            tried.append(other)
            # each must be worth its place beside the first; among those that are, the one that keeps most is taken
            if not other.sound or other.checked.score < first.checked.score + _gain_needed(
                other, first, outline
            ):
                continue  # what doubts every question of a reading doubts the reading
            if best is first or other.exceeds(best):
                best = other

    is_very_doubtful = first.checked.score < _VERY_DOUBTFUL
    headlines = paper.headlines
    if not headlines.are_numbered and len(headlines.asked) > len(first.drafts):
        take([head_by_print(paper.pieces, headlines)])
    titles = find_titles(paper.pieces, paper.lines, paper.starts)
    take([head_by_titles(paper.pieces, titles)] if titles else ())
    headed = [stretch for stretch in first.stretches if stretch.heading]
    outlines = propose_outlines(
        paper.pieces,
        paper.repeated,
        {draft.start for draft in first.drafts},
        {stretch.place: stretch.is_question for stretch in headed},
        list_silent(Reading(first.drafts, paper.pieces, found_before=paper.repeated)),
        any(stretch.fine is None for stretch in headed),
        headlines.asked,
    )
    take(islice(outlines, _MOST_READINGS if is_very_doubtful else _FEW_READINGS))
    take(count_on(paper.pieces, paper.repeated, {draft.start for draft in first.drafts}))
    for _ in range(_MOST_REPAIRS):
        before = best
        found = Reading(
            best.drafts, paper.pieces, best.stretches, best.keys, best.answer_parts, paper.repeated
        )
        held, passages = list_held(found, find_unclaimed(found).numbered)
        if best.outline.family == HELD:  # what was found before is no longer held
            held = {**best.outline.numbers, **held} if held else {}
            passages |= best.outline.passages
        running = replace(best.outline, numbers=held, passages=passages, family=HELD, given=True)
        take([running] if held else ())
        if best is before:
            break
    for _ in range(_MOST_REPAIRS):
        before = best
        announcing = {one.place for one in best.checked.breaches if one.contract == "announced_here"}
        if announcing - set(best.outline.headings):
            take([add_headings(best.outline, announcing, paper.pieces, paper.repeated.marks)])
        if best is before:
            break
    others = [one.checked.score for one in (first, *tried) if one is not best]
    best.checked = replace(best.checked, margin=best.checked.score - max(others, default=0.0))
    return best


_MOST_READINGS, _FEW_READINGS, _VERY_DOUBTFUL = 6, 2, 0.85
_MOST_REPAIRS, HELD = 3, "held"
# Below this score a paper is read in other ways too. Another reading must gain at least so much, more where it finds no
# further questions, and much more where it finds fewer.
DOUBTFUL, LEAST_GAIN = 1.0, 0.002
_GAIN_WITHOUT_MORE, _GAIN_WITH_FEWER = 0.05, 0.3
# So many more questions that nothing doubts are far more.
_FAR_MORE = 1.5
# Of readings that keep as much but for so little, the one that breaks fewer contracts is taken.
_HARDLY = 0.01
# A reading that keeps nearly everything is not looked beyond.
_BEST = 0.994


def _gain_needed(other: ReadPaper, first: ReadPaper, outline: Outline) -> float:
    """How much more another reading must keep to take the place of the first one."""
    # what is left out of the questions because it asks nothing is no loss
    left_out = 0 if outline.given else len(outline.hidden)
    more = len(other.drafts) + left_out - len(first.drafts)
    if outline.answers_below and first.leaves_text and other.sound > first.sound:
        return -DOUBTFUL  # what is right of hardly any text says little
    if more > 0 or left_out:
        # further questions that nothing doubts raise the share by themselves: fewer must be doubted or missed
        if other.missing < first.missing and other.checked.score >= first.checked.score:
            return 0.0  # a question that is doubted is better than one that is missed
        return LEAST_GAIN if other.amiss < first.amiss else _GAIN_WITHOUT_MORE
    return _GAIN_WITHOUT_MORE if more == 0 else _GAIN_WITH_FEWER


@dataclass(frozen=True)
class LinedPaper:
    """The lines of a paper as every reading of it begins."""

    lines: Sequence[Line]
    starts: Sequence[int]
    pieces: list[Piece]
    language: str | None
    tables: PaperTables
    repeated: Repeated
    headlines: Headlines = NO_HEADLINES
    # what the lines of one question came to: most questions are the same in every reading
    contents: dict[tuple[object, ...], Draft] = field(default_factory=dict)
    noise: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def is_noise(self, piece: Piece) -> bool:
        """What `is_noise` says of a line, asked once for all readings."""
        key = (piece.text, piece.kind, piece.label is None)
        known = self.noise.get(key)
        if known is None:
            known = self.noise[key] = is_noise(piece)
        return known

    def read_content(
        self,
        lines: list[Piece],
        fine: FineType | None,
        is_answered: bool,
        offers: bool = False,
        has_material: bool = False,
    ) -> Draft:
        """What `read_content` says of these lines, a draft of its own for each reading."""
        key = (
            fine and fine.name,
            is_answered,
            offers,
            has_material,
            *[(piece.start, piece.text, piece.wraps, piece.kind, piece.label) for piece in lines],
        )
        known = self.contents.get(key)
        if known is None:
            known = self.contents[key] = read_content(
                lines, fine, self.language, is_answered, offers, has_material
            )
        return known.copy()


@dataclass
class ReadPaper:
    """What one reading of a paper came to, and what its contracts say of it."""

    drafts: list[Draft]
    keys: list[KeyEntry]
    language: str | None
    warnings: list[str]
    stretches: list[Stretch]
    checked: Checked
    found: list[ContractCheck]
    answer_parts: Collection[int]
    outline: Outline = field(default_factory=Outline)

    def exceeds(self, best: ReadPaper) -> bool:
        """Whether this reading keeps more; where it keeps as much, marks that mean the same decide."""
        own, other = self.checked.score, best.checked.score
        if own > other and self.sound > _FAR_MORE * best.sound:
            return True
        if other > own and best.sound > _FAR_MORE * self.sound:
            return False
        if abs(own - other) < _HARDLY and len(self.broken) != len(best.broken):
            return len(self.broken) < len(best.broken)
        alike = measure_alike(self.stretches) - measure_alike(best.stretches)
        return alike > 0 if own == other else own > other

    @property
    def broken(self) -> set[str]:
        """The contracts that do not hold."""
        return {one.contract for one in self.checked.breaches}

    @property
    def leaves_text(self) -> bool:
        """Whether much of the text belongs to no question."""
        return any(one.contract == "claimed_text" for one in self.checked.breaches)

    @property
    def sound(self) -> int:
        """How many questions no contract doubts."""
        return len(self.drafts) - self._doubted

    @property
    def amiss(self) -> int:
        """How many questions a contract doubts or misses."""
        return self._doubted + self.missing

    @property
    def missing(self) -> int:
        """How many questions a contract misses."""
        return max((one.missing for one in self.found), default=0)

    @property
    def _doubted(self) -> int:
        return len({id(draft) for one in self.found for draft in one.doubted})


def _read_outline(paper: LinedPaper, outline: Outline | None) -> ReadPaper:
    """Read the questions of a paper, with other marks where an outline names them."""
    pieces = paper.pieces if outline is None else outline.label(paper.pieces)
    warnings: list[str] = []
    tables = copy(paper.tables)
    tables.warnings = warnings
    rows = tables.replace_rows(pieces)
    # where each question ends with its answer, a line that only says `answer` opens no part of them
    is_closed = outline is not None and outline.is_counted
    body, regions = ([rows], [[]]) if is_closed else take_regions(part_answers(rows))
    keys: list[KeyEntry] = []
    drafts: list[Draft] = []
    answer_parts: set[int] = set()
    stretches: list[Stretch] = []
    for part_pieces, region in zip(body, regions, strict=True):
        part_drafts, part_keys = _split_part(part_pieces, paper, tables, stretches, outline, bool(region))
        answered = tables.read(region, len(part_drafts), None)
        part_drafts += answered
        found = choose_parts(part_drafts, [piece for piece in region if piece.table < 0])
        for parts in (*([one] for one in part_keys), found):
            matched = match_keys(part_drafts, parts, paper.language)
            keys.extend(matched.left)
        if matched.count or answered:
            # else nothing claims what was no key
            answer_parts.update(tables.key_rows, (piece.start for piece in region))
        read_small_keys(part_drafts)
        read_judged_letters(part_drafts)
        cut_both_judgements(part_drafts)
        read_rings(part_drafts)
        read_corrections(part_drafts)
        offer_lettered(part_drafts)
        settle_orders(part_drafts)
        offer_three_judgements(part_drafts)
        read_judged_below(part_drafts)
        part_glued(part_drafts)
        read_answers_below(part_drafts)
        offer_plain(part_drafts)
        take_shown_keys(part_drafts)
        if region:
            for draft in part_drafts:
                # model answers of free questions are often left out
                if not draft.answer and draft.question_type in KEYED_TYPES:
                    draft.notes.append("answer_part_without_it")
        drafts.extend(part_drafts)
    cut_answer_leads(drafts)
    take_explanations(drafts)
    take_chosen(drafts)
    settle_computed(drafts)
    cut_badges(drafts)
    drop_omitted(drafts)
    take_format_keys(drafts, paper.lines, paper.starts)
    take_format_answers(drafts, paper.lines, paper.starts)
    checked, results = check_reading(
        Reading(drafts, paper.pieces, stretches, keys, answer_parts, paper.repeated)
    )
    return ReadPaper(drafts, keys, paper.language, warnings, stretches, checked, results, answer_parts)


def _describe(read: ReadPaper) -> Split:
    warnings = list(read.warnings)
    if read.keys and read.drafts:
        warnings.append(f"{len(read.keys)} printed answers match no question.")
    warnings.extend(describe_breaches(read.checked))
    heads = tuple(stretch.place for stretch in read.stretches if stretch.heading)
    return Split(read.drafts, read.keys, read.language, warnings, read.checked, heads)


def _asks_name(text: str) -> bool:
    return (has_colon(text) or "_" in text) and FORM.search(text) is not None


# a title stands among so many lines, below what a form asks for
_TITLE_LINES, _SHORTEST_TITLE = 3, 5


def _split_part(
    pieces: list[Piece],
    paper: LinedPaper,
    tables: PaperTables,
    stretches: list[Stretch],
    outline: Outline | None,
    is_keyed: bool,
) -> tuple[list[Draft], list[KeyPart]]:
    part = IndexedLines(pieces)
    titles = [piece.text.strip() for piece in takewhile(lambda one: one.label is None, pieces[:_TITLE_LINES])]
    if (
        len(pieces) > _TITLE_LINES
        and len(last := pieces[-1].text.strip()) >= _SHORTEST_TITLE
        and last in titles
    ):
        part = IndexedLines(part.pieces[:-1])  # the title again, above the answers
    kept = [piece for piece in drop_notices(part).pieces if not paper.is_noise(piece)]
    pieces = list(move_brackets(IndexedLines(kept)).pieces)
    sections = divide(pieces, outline)
    has_typed = any(section.fine is not None for section in sections)
    keys: list[KeyPart] = []
    chunks: list[tuple[int, Section, Label | None, list[Piece], str | None]] = []
    carry: int | None = None
    drafts: list[Draft] = []
    for number, section in enumerate(sections, start=len(stretches)):
        stretches.append(_describe_section(number, section))
        in_tables = tables.read(section.pieces, number, section.fine)
        if in_tables:
            drafts.extend(in_tables)
            for draft in in_tables:
                draft.marks = draft.marks if draft.marks is not None else section.marks
            section.pieces = [piece for piece in section.pieces if piece.table < 0]
            section.is_question = False
        section.pieces = take_key_lines(section, number, keys)
        if in_tables and all(piece.label is None for piece in section.pieces):
            continue  # what is left besides the tables are instructions
        if (
            section is sections[0]
            and section.is_cover
            and has_typed
            and not (outline is not None and any(one.start in outline.numbers for one in section.pieces))
            and not has_options_ahead(section.pieces)
            and not asks_above_types(section.pieces)
        ):
            continue
        if section.fine is None:
            section.pieces = leave_out_rules(section, section is sections[-1])
        if section.is_question:
            own = Label(section.style, section.number or 0, 0, section.label)
            chunks.append((number, section, own, drop_title(section), None))
            continue
        found, carry = split_section(section, carry)
        if not may_choose(section, [lines for _, lines, _ in found]):
            section.fine = None
            stretches[-1] = replace(stretches[-1], fine=None)
        chunks.extend((number, section, label, lines, material) for label, lines, material in found)
    tails = find_tails([(number, lines) for number, _, _, lines, _ in chunks])
    chunks = [
        (number, section, label, lines[: tails.get(place)], material)
        for place, (number, section, label, lines, material) in enumerate(chunks)
    ]
    is_answered = prints_answers([lines for _, _, _, lines, _ in chunks])
    has_tables = bool(drafts)
    answers_below = paper.headlines.are_numbered or (outline is not None and outline.answers_below)
    filled, offering = find_filled(chunks, is_keyed), find_offering(chunks)
    for place, (number, section, label, lines, material) in enumerate(chunks):
        has_gap = label is not None and material is not None and f"__{label.value}__" in material
        offers = place in offering
        asked = len(lines)
        if outline is not None and outline.family == ASKING:
            asked = next((at for at, line in enumerate(lines, start=1) if ends_asking(line.text)), 1)
        elif answers_below:
            asked = count_asked(lines, paper.headlines)
        draft = paper.read_content(
            lines[:asked],
            section.fine,
            is_answered or number in filled,
            offers or has_gap,
            material is not None,
        )
        if not draft.options and not (draft.stem if label else any(map(str.isalpha, draft.stem))):
            continue
        answer = (
            clean_text(join_pieces(cut_answer_mark(lines[asked:])), paper.language) if lines[asked:] else ""
        )
        if answer:
            take_below(draft, answer)
            if paper.headlines.are_marked:
                draft.notes.remove("answer_without_mark")
        if place in tails:
            draft.notes.append("text_below")
        draft.section = number
        draft.section_number = section.number
        draft.section_parent = section.parent
        draft.number_label = label.text if label else ""
        draft.value = label.value if label else None
        cut_own_number(draft)
        if draft.options and _EMPTY_PLACE.fullmatch(draft.stem) is not None:
            draft.stem = _ask_by_heading(section) or draft.stem
        draft.material = (
            drop_asking_lead(clean_text(material, paper.language)) if material else draft.material
        )
        is_read = draft.material is not None and PICTURE_MARK.sub("", draft.material).strip() != ""
        if is_read and not draft.options and draft.question_type in ("short_answer", "essay"):
            draft.question_type = "material_analysis"
        if draft.marks is None and section.marks is not None:
            many = last_number(draft.number_label) - (draft.value or 0) + 1
            draft.marks = section.marks * max(many, 1)  # each number of `56-65.` is worth so much
        if lines:
            draft.start, draft.end = lines[0].start, max(line.end for line in lines)
        drafts.append(draft)
    cut_numbers_again(drafts)
    cut_margins(drafts)
    drop_form_lines(drafts)
    cut_after_options(drafts, paper.language)
    take_keys_below(drafts)
    take_form_tails(drafts)
    ask_in_passage(drafts)
    read_filled(drafts, paper.language)
    read_bracketed_ends(drafts)
    keep_translations(drafts)
    if has_tables:
        drafts.sort(key=lambda draft: draft.start)
    return drafts, keys


# `(  )`: the place of a key, and nothing that asks
_EMPTY_PLACE = re.compile(r"[（(\[]\s*[)）\]]")


def _ask_by_heading(section: Section) -> str:
    """What the heading of a section asks, `选出不同类的一项。(10分)`; '' for a mere type."""
    label = parse_label(section.heading)
    title = re.sub(COUNTS_POINTS, "", section.heading[label.end if label is not None else 0 :]).strip()
    return title if len(title) >= _SHORTEST_TITLE and match_exactly(title.rstrip("。.:：")) is None else ""


# What stands below a heading before its first question, as far as it may announce something.
_LEAD_LINES = 3


def _describe_section(index: int, section: Section) -> Stretch:
    lead: list[str] = []
    for piece in section.pieces[:_LEAD_LINES]:
        if piece.label is not None and not piece.label.is_weak:
            break
        lead.append(piece.text)
    return Stretch(
        index,
        section.start,
        section.number,
        section.style,
        section.fine,
        section.heading,
        "\n".join(lead) if section.heading else "",
        section.parent,
        section.is_question,
    )
