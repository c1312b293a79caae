"""Signs before options that tell the right ones by standing before one of each list.

`→ B. hen` among `A. horse`, and `+ hen` among `- horse`: whatever the sign is, it comes once a list, before another option each
time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from tasks.ingest.layout.pieces import IndexedLines, is_sign, rewrite

_LETTERED = re.compile(
    r"\s*(?P<sign>[^\w\s(（\[【*√✓✔☑]{0,2})\s*(?=[（(]?(?P<letter>[A-Ha-h])\s*[)）.．、:：]\s*\S)"
)
# What is right and what is wrong, in tests that are kept as text.
_PAIRS = (("+", "-"), ("+", "–"), ("=", "~"))
_LEAST_LISTS, _MOST_LISTS = 3, 0.8


def write_telling_signs(lines: IndexedLines) -> IndexedLines:
    """Write the sign that marks one option of each list as `✓`, and signs before bare options as boxes."""
    return _write_before_letters(_write_bare(lines))


def _write_before_letters(lines: IndexedLines) -> IndexedLines:
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
    return lines.replace(
        {
            place: rewrite(lines.pieces[place], match.end(), "✓ ")
            for place, match in found.items()
            if match["sign"] == telling[0]
        }
    )


def _write_bare(lines: IndexedLines) -> IndexedLines:
    """Write `+ hen` as `☑ hen` and `- horse` as `☐ horse`, where each numbered question has one of the first."""
    signed = lines.open_where(is_sign)
    for right, wrong in _PAIRS:
        marked = {
            place: lines.pieces[place].text.lstrip()[0]
            for place in signed
            if re.match(rf"\s*[{re.escape(right + wrong)}]\s*[^\W_]", lines.pieces[place].text)
        }
        groups: dict[int, list[int]] = defaultdict(list)
        for place in marked:
            above = place
            while above in marked:
                above -= 1
            groups[above].append(place)
        lists = [own for above, own in groups.items() if len(own) > 1 and above in lines.numbered]
        told = sum(sum(marked[place] == right for place in own) == 1 < len(own) for own in lists)
        if len(lists) < _LEAST_LISTS or told < _MOST_LISTS * max(len(lists), len(lines.numbered)):
            continue
        worded = sum(any(map(str.isalpha, lines.pieces[place].text)) for own in lists for place in own)
        if 2 * worded < sum(map(len, lists)):
            continue  # `+ 3`, `- 4` are to be summed up
        places = {
            min(i for i, p in enumerate(own) if marked[p] == right)
            for own in lists
            if right in map(marked.get, own)
        }
        if len(places) < 2:
            continue  # the first of each list is its head
        return lines.replace(
            {
                place: rewrite(
                    lines.pieces[place],
                    lines.pieces[place].text.index(marked[place]) + 1,
                    "☑ " if marked[place] == right else "☐ ",
                )
                for own in lists
                for place in own
            }
        )
    return lines
