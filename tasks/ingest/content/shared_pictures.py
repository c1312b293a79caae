"""Pictures between a heading and its questions, and in an appendix: whose material they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE
from tasks.ingest.readers.extraction import IMAGE, is_picture


def share_pictures(drafts: Sequence[Draft]) -> None:
    """Give the pictures that stand beside no question to those who speak of them."""
    if drafts:
        _share_appendix(drafts)
    for _, run in groupby(drafts, key=_name_material):
        _give_to_one(list(run))


# `Appendix`, `附录 A`, `附图：`, `Data sheet`
_APPENDIX = re.compile(
    r"\s*(?:附[录錄表图圖页頁]\s*[一二三四A-D\d]?|(?i:append(?:ix|ices)(?:\s+[A-D\d])?|(?:data|reference|formula) sheets?))\s*[:：]?\s*"
)
# `8255` of `8255Control word`, `74LS138`: what is named so is spoken of by the same name.
_NAME = re.compile(r"\d+[A-Z]{1,4}\d+|(?<![A-Za-z])[A-Za-z]{1,4}\d{2,}|\d{3,}")
# A page writes `825 3` where it sets a number apart.
_SPACED = re.compile(r"(?<=\d) (?=\d)")
# `OCW2`, `(b)` below `8259 control words`: so short a line goes on with the title above it.
_SHORTEST_TITLE, _LONGEST_SUBTITLE = 3, 6


def _share_appendix(drafts: Sequence[Draft]) -> None:
    """End the last question above an appendix, and share out the pictures there.

    Who speaks of the title of one has it as material; what nobody speaks of belongs to no question.
    """
    last, below = drafts[-1], ""
    if last.options:
        label, text = last.options[-1]
        text, below = _cut_appendix(text)
        last.options[-1] = label, text
    else:
        last.stem, below = _cut_appendix(last.stem)
    if last.answer and not below:
        last.answer[-1], below = _cut_appendix(last.answer[-1])
    if last.explanation and not below:
        last.explanation, below = _cut_appendix(last.explanation)
    titles: list[str] = []
    for line, before in zip(lines := list(map(str.strip, below.split("\n"))), ["", *lines], strict=False):
        if not is_picture(line):
            is_further = is_picture(before) and (
                len(line) > _LONGEST_SUBTITLE or _NAME.search(line) is not None
            )
            titles = [*([] if is_further else titles[:1] if is_picture(before) else titles), line]
            continue
        names = {name for title in titles for name in _NAME.findall(_SPACED.sub("", title))}
        for draft in drafts:
            if not names.isdisjoint(_NAME.findall(draft.stem)) or any(
                len(title) >= _SHORTEST_TITLE and title in draft.stem for title in titles
            ):
                draft.material = "\n".join(filter(None, (draft.material, line)))


def _cut_appendix(text: str) -> tuple[str, str]:
    """A text up to the line that opens an appendix with pictures, and what stands below."""
    lines = text.split("\n") if IMAGE in text else []
    at = next((at for at, line in enumerate(lines) if at and _APPENDIX.fullmatch(line)), len(lines))
    below = "\n".join(lines[at + 1 :])
    return ("\n".join(lines[:at]).rstrip(), below) if IMAGE in below else (text, "")


# What may mean a figure without pointing at one.
_MENTIONS = re.compile(r"[图圖表]|(?i:\b(?:fig(?:ure)?|diagram|graph|map|picture|chart|drawing)s?\b)")


def _name_material(draft: Draft) -> tuple[int, str | None]:
    return draft.section, draft.material


def _give_to_one(group: Sequence[Draft]) -> None:
    """Give a picture above several questions to the one that speaks of it.

    Without a word besides it is the material of all, and stays so where a second one may mean it.
    """
    shown = (group[0].material or "").strip()
    if len(group) < 2 or not is_picture(shown):
        return
    texts = ["\n".join((one.stem, *(text for _, text in one.options))) for one in group]
    meant = [one for one, text in zip(group, texts, strict=True) if _MENTIONS.search(text)]
    if len(meant) == 1 and IMAGE not in meant[0].stem and SPEAKS_OF_FIGURE.search(meant[0].stem):
        for one in group:
            one.material = None
        meant[0].stem += f"\n{shown}"
