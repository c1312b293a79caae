"""All contracts of a paper checked against one reading of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts import Checked
from tasks.ingest.contracts.asking import NOTHING_ASKS, keep_asking
from tasks.ingest.contracts.contents import (
    keep_answered,
    keep_apart,
    keep_asked,
    keep_blanks,
    keep_closed,
    keep_key_length,
    keep_keys,
    keep_keys_out,
    keep_lengths,
    keep_numbers_out,
    keep_option_counts,
    keep_option_labels,
    keep_own,
    keep_parts_few,
    keep_section_types,
    keep_stems,
)
from tasks.ingest.contracts.counts import (
    keep_announced_count,
    keep_announced_here,
    keep_announced_range,
    keep_announced_total,
    keep_marks,
    keep_number_runs,
    keep_score_table,
)
from tasks.ingest.contracts.coverage import (
    NOTHING_FOUND,
    keep_claimed,
    keep_found,
    keep_passages,
    keep_series,
)
from tasks.ingest.contracts.readings import ContractCheck, Reading
from tasks.ingest.words.warnings import NOT_READ

Contract = Callable[[Reading, ContractCheck], None]
CONTRACTS: tuple[Contract, ...] = (
    keep_announced_count,
    keep_announced_here,
    keep_announced_total,
    keep_announced_range,
    keep_score_table,
    keep_marks,
    keep_number_runs,
    keep_apart,
    keep_stems,
    keep_blanks,
    keep_numbers_out,
    keep_option_counts,
    keep_option_labels,
    keep_section_types,
    keep_keys,
    keep_answered,
    keep_key_length,
    keep_asked,
    keep_closed,
    keep_own,
    keep_parts_few,
    keep_keys_out,
    keep_lengths,
    keep_claimed,
    keep_passages,
    keep_series,
    keep_found,
    keep_asking,
)
# Tables and records have no lines: what they hold can be compared with their neighbours alone.
_OF_TABLES = (keep_option_counts, keep_keys)


def check_reading(reading: Reading) -> tuple[Checked, list[ContractCheck]]:
    """Check every contract; pure: nothing is noted at the questions."""
    found = _check(reading, CONTRACTS)
    breaches = tuple(breach for one in found for breach in one.breaches)
    kept = sum(1 for one in found if one.checked and not one.breaches)
    return Checked(breaches, kept, score_reading(reading, found)), found


def _check(reading: Reading, contracts: Sequence[Contract]) -> list[ContractCheck]:
    found: list[ContractCheck] = []
    for contract in contracts:
        found.append(ContractCheck(contract.__name__.removeprefix("keep_")))
        contract(reading, found[-1])
    return found


def score_reading(reading: Reading, found: Sequence[ContractCheck]) -> float:
    """The share of questions that no breach concerns, among those found and those missed.

    Several contracts may miss the same questions: the largest number counts, not their sum.
    """
    doubted = {id(draft) for one in found for draft in one.doubted}
    missing = max((one.missing for one in found), default=0)
    count = len(reading.drafts)
    if not count:
        return 0.0 if missing else 1.0
    return (count - len(doubted)) / (count + missing)


def note_breaches(found: Sequence[ContractCheck]) -> None:
    """Note at the questions which of them a breach concerns, and why."""
    for one in found:
        for draft, note in one.notes:
            draft.notes.append(note)


def note_neighbours(drafts: Sequence[Draft]) -> None:
    """Note a choice that has not as many options as its section, and a lone unanswered question."""
    note_breaches(_check(Reading(drafts, ()), _OF_TABLES))


# Where no question is left, the document's error says why.
SAID_BY_ERROR = (NOTHING_FOUND, NOTHING_ASKS)
# So many sentences of one contract are told in full.
_FEW = 3


def describe_breaches(checked: Checked) -> list[str]:
    """The sentences about what was perhaps not read; those of single questions are summed up."""
    by_contract: dict[str, list[str]] = {}
    for breach in checked.breaches:
        if breach.contract in SAID_BY_ERROR:
            continue  # the document's error says it
        by_contract.setdefault(breach.contract, []).append(breach.words)
    shown: list[str] = []
    for words in by_contract.values():
        few = words if len(words) <= _FEW else [f"{words[0]} So do {len(words) - 1} more."]
        shown += [f"{NOT_READ}{one}" for one in few]
    return shown
