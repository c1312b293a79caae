"""What opens nearly every answer in words that nobody listed: `Expected response: …`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.words.answers import read_truth

_LEAD = re.compile(
    r"(?:(?P<word>[^\W\d_][^\W\d_ '’]*(?: [^\W\d_]+){0,3})\s?[:：]|(?P<sign>[→►▶⇒➔➜•]|=>|->|>>)|(?P<letter>[A-Z])(?P<number>\d{1,3})\s?[.:)])\s+(?=\S)"
)
# So many answers must begin alike, and nearly all that answer in words.
_LEAST, _MOST = 4, 0.8


def cut_answer_leads(drafts: Sequence[Draft]) -> None:
    """Cut what opens nearly every answer in words, and a word that opens every question too.

    A letter counts where the number of the question follows it.
    """
    free = [draft for draft in drafts if not draft.options and len(draft.answer) == 1]
    free = [draft for draft in free if draft.question_type != "true_false"]
    found = {id(draft): match for draft in free if (match := _LEAD.match(draft.answer[0])) is not None}
    leads = Counter(_name(match) for match in found.values())
    lead, times = leads.most_common(1)[0] if leads else ("", 0)
    if times < max(_LEAST, _MOST * len(free)) or read_truth(lead) is not None:
        return  # `Yes: it grinds.` answers
    if len(leads) > 1:
        return  # `Noun: …`, `Verb: …` answer
    own = [draft for draft in free if id(draft) in found and _name(found[id(draft)]) == lead]
    numbers = [int(found[id(draft)]["number"] or 0) for draft in own]
    if numbers[0] and numbers != [draft.value for draft in own]:
        return  # `B12.` names a place
    for draft in own:
        draft.answer = [draft.answer[0][found[id(draft)].end() :]]
    asked = [_LEAD.match(draft.stem) for draft in drafts]
    words = {match["word"] if match is not None else None for match in asked}
    if len(words) == 1 and None not in words:
        for draft, match in zip(drafts, asked, strict=True):
            draft.stem = draft.stem[match.end() :] if match is not None else draft.stem


def _name(match: re.Match[str]) -> str:
    return match["word"] or match["sign"] or match["letter"]
