"""Signs before options that tell the right ones by standing before one of each list.

`→ B. hen` among `A. horse`, and `+ hen` among `- horse`: whatever the sign is, it comes once a list, before another option each
time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, is_sign, rewrite

_LETTERED = re.compile(
    r"\s*(?P<sign>[^\w\s(（\[【*√✓✔☑]{0,2})\s*(?=[（(]?(?P<letter>[A-Ha-h])\s*[)）.．、:：]\s*\S)"
)
# What is right and what is wrong, in tests that are kept as text.
_PAIRS = (("+", "-"), ("+", "–"), ("=", "~"))
_LEAST_LISTS, _MOST_LISTS = 3, 0.8


def write_telling_signs(lines: IndexedLines) -> IndexedLines:
    """Write the sign that marks one lettered option of each list as `✓`."""
    found = {
        place: match
        for place, piece in enumerate(lines.pieces)
        if piece.kind == "body" and (match := _LETTERED.match(piece.text)) is not None
    }
    letters: dict[str, Counter[str]] = defaultdict(Counter)
    for match in found.values():
        letters[match["sign"]][match["letter"].upper()] += 1
    lists = sum(own["A"] for own in letters.values())
    telling = [
        sign
        for sign, own in letters.items()
        if sign
        and lists >= _LEAST_LISTS
        and _MOST_LISTS * lists <= own.total() <= lists
        and max(own.values()) <= _MOST_LISTS * own.total()
    ]
    if len(telling) != 1:
        return lines
    ticked = {place: match for place, match in found.items() if match["sign"] == telling[0]}
    return lines.write(ticked, lambda _: "✓ ")


# what stands before the lines of a list; a tick is right whatever the others have
_LIST_LINE = re.compile(r"\s*(?P<sign>[○◯□☐◻▢◦•·▪*+\-–—=~✗✘❌✓✔√☑✅◉●■])\s*(?=\S)")
_TICKS, _SPACED = frozenset("✓✔√☑✅◉●■"), re.compile(r"\s*\S\s")
# what heads the lines below it as well
_BULLETS = frozenset("◉●■")


def write_ticked_lists(lines: IndexedLines) -> IndexedLines:
    """Write `○ salt`, `✓ iron` as boxes where most lists have one line with the other sign.

    Signs that may as well be of what is said tell it below numbers alone, and stand at several places of their lists.
    """
    found = lines.find(_LIST_LINE, is_sign)
    lists: list[list[int]] = []
    for place in sorted(found):
        if lists and lists[-1][-1] == place - 1:
            lists[-1].append(place)
        else:
            lists.append([place])
    pairs: Counter[tuple[str, str]] = Counter()
    for own in lists:
        signs = Counter(found[place]["sign"] for place in own)
        if len(signs) == len(("right", "wrong")):
            one, other = signs
            pairs.update(
                (right, wrong)
                for right, wrong in ((one, other), (other, one))
                if signs[right] == 1 and (right in _TICKS or (right, wrong) in _PAIRS)
            )
    for (right, wrong), count in pairs.most_common():
        offered = [
            own for own in lists if {found[at]["sign"] for at in own} <= {right, wrong} and len(own) > 1
        ]
        if right not in _TICKS:
            offered = [own for own in offered if own[0] - 1 in lines.numbered]
            count = sum(sum(found[at]["sign"] == right for at in own) == 1 for own in offered)
        if right in _BULLETS and not _moves(found, offered, right):
            continue
        # `+` may as well weigh what is said, where some lists have none of it or several
        least = max(_LEAST_LISTS, (_MOST_TICKED if right in _TICKS else 1) * len(offered))
        if count < least or (right not in _TICKS and not _are_texts(lines, found, offered, right)):
            continue
        return lines.replace(
            {
                at: rewrite(lines.pieces[at], found[at].end(), "☑ " if found[at]["sign"] == right else "☐ ")
                for own in offered
                for at in own
                if right not in _TICKS or _SPACED.match(lines.pieces[at].text)
            }
        )
    return lines


_MOST_TICKED = 0.7


def _are_texts(
    lines: IndexedLines, found: Mapping[int, re.Match[str]], lists: Sequence[Sequence[int]], right: str
) -> bool:
    """Whether nearly all questions have such a list, of words, the right one at several places."""
    worded = sum(any(map(str.isalpha, lines.pieces[at].text)) for own in lists for at in own)
    return (
        len(lists) >= _MOST_LISTS * len(lines.numbered)
        and 2 * worded >= sum(map(len, lists))  # `+ 3`, `- 4` are to be summed up
        and _moves(found, lists, right)
    )


def _moves(found: Mapping[int, re.Match[str]], lists: Sequence[Sequence[int]], right: str) -> bool:
    """Whether a sign stands at several places of its lists: the first of each is its head."""
    places = {
        next((place for place, at in enumerate(own) if found[at]["sign"] == right), -1) for own in lists
    }
    return len(places - {-1}) > 1
