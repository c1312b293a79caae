"""Every published file changed in every way that matters: found under its own statement.

Each change is made twice. Raw: the file alone, so that the hash in the log differs, too. Forged: by somebody who holds the key and
writes the new hash into the log, chains it and signs all heads again: what the file says must still follow from what was
committed to. What a forger can make consistent in every part is in test_verifier_forgeries.py.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from tasks.exam.public.hashing import digest
from tests.hunts import some
from tests.tasks.exam.public.made import Made
from tests.tasks.exam.public.maker import Maker

Check = Callable[..., set[str]]
Change = Callable[[Any], None]


def put(*path: Any) -> Change:
    """Set a value deep inside: names and places, then the value."""
    *way, last, value = path

    def change(found: Any) -> None:
        for name in way:
            found = found[name]
        assert found[last] != value
        found[last] = value

    return change


def flip_bit(found: Any) -> None:
    """The first organisation had met one more lineage, or one less."""
    row = found["met"][0]
    raw = bytearray(base64.b64decode(row["bitmap"]))
    raw[0] ^= 1
    row["bitmap"] = base64.b64encode(bytes(raw)).decode()


def swap_stars(found: Any) -> None:
    """Another star for the first question that has one."""
    stars = found[0]["stars"]
    place = next(place for place, star in enumerate(stars) if star in "0123")
    found[0]["stars"] = stars[:place] + ("0" if stars[place] == "3" else "3") + stars[place + 1 :]


def deny_answer(found: Any) -> None:
    """A star taken away, as if there were no answer."""
    stars = found[0]["stars"]
    place = next(place for place, star in enumerate(stars) if star in "0123x")
    found[0]["stars"] = stars[:place] + "u" + stars[place + 1 :]


def find_answered(found: Any) -> int:
    return next(place for place, answer in enumerate(found[0]["answers"]) if answer)


def change_answer(found: Any) -> None:
    found[0]["answers"][find_answered(found)] = "cd" * 32


def remove_answer(found: Any) -> None:
    found[0]["answers"][find_answered(found)] = None


def add_session(found: Any) -> None:
    found.append({**found[-1], "session": found[-1]["session"] + "0"})


def swap(first: int, second: int, *way: Any) -> Change:
    def change(found: Any) -> None:
        for name in way:
            found = found[name]
        assert found[first] != found[second]
        found[first], found[second] = found[second], found[first]

    return change


def drop(*path: Any) -> Change:
    *way, last = path

    def change(found: Any) -> None:
        for name in way:
            found = found[name]
        del found[last]

    return change


def is_candidates(row: Any) -> bool:
    return not row["is_reference"]


def put_where(name: str, value: Any, holds: Callable[[Any], bool] = is_candidates) -> Change:
    def change(found: Any) -> None:
        row = next(row for row in found if holds(row) and row[name] != value)
        row[name] = value

    return change


RUN = "runs/2026-10"
EDITION = "editions/2026-10-1"
FIRST = "editions/2026-09-1"

CHANGES: list[tuple[str, str, Change, str]] = [
    ("the run of a plan", f"{RUN}/plan.json", put("run", "2026-09"), "plan_wrong"),
    ("the month of a plan", f"{RUN}/plan.json", put("month", "2026-12"), "plan_wrong"),
    ("the season of a plan", f"{RUN}/plan.json", put("season", "2027"), "plan_wrong"),
    ("the salt of a plan", f"{RUN}/plan.json", put("salt", "other"), "plan_wrong"),
    ("the bank of a plan", f"{RUN}/plan.json", put("bank_root", "ab" * 32), "plan_wrong"),
    ("the policy of a plan", f"{RUN}/plan.json", put("policy", "unique"), "plan_wrong"),
    ("the size of sets in a plan", f"{RUN}/plan.json", put("set_size", 11), "plan_wrong"),
    ("the rest of a plan", f"{RUN}/plan.json", put("rest_months", 1), "plan_wrong"),
    ("the styles of a plan", f"{RUN}/plan.json", put("styles", ["plain"]), "plan_wrong"),
    ("the repeats of a plan", f"{RUN}/plan.json", put("repeats", 3), "plan_wrong"),
    ("a weight in a plan", f"{RUN}/plan.json", put("weights", "Law", 0.9), "plan_wrong"),
    ("the reference of a plan", f"{RUN}/plan.json", put("reference_model", "a-1"), "plan_wrong"),
    ("the registry entry of a candidate", f"{RUN}/plan.json", put("candidates", 0, "registry", "ab" * 32), "plan_wrong"),
    ("the owner of a candidate", f"{RUN}/plan.json", put("candidates", 0, "organisation", "c"), "session_unknown"),
    ("whom a set is drawn for", f"{RUN}/plan.json", put("sets", 1, "drawn_for", ["a"]), "plan_wrong"),
    ("the shares of a set", f"{RUN}/plan.json", put("sets", 1, "shares", 0, 1, 5), "set_wrong"),
    ("the anchors of a set", f"{RUN}/plan.json", put("sets", 1, "shares", 1, 2, 0), "set_wrong"),
    ("a set that is new no more", f"{RUN}/plan.json", put("sets", 1, "is_new", False), "plan_wrong"),
    ("a set removed from a plan", f"{RUN}/plan.json", drop("sets", 0), "order_wrong"),
    ("sets of a plan out of order", f"{RUN}/plan.json", swap(0, 1, "sets"), "plan_wrong"),
    ("a bit of what an organisation met", f"{RUN}/exclusions.json", flip_bit, "exclusions_wrong"),
    ("the salt of a bitmap", f"{RUN}/exclusions.json", put("met", 1, "salt", "ab" * 32), "exclusions_wrong"),
    ("the name of a bitmap", f"{RUN}/exclusions.json", put("met", 0, "name", "organisation x"), "exclusions_wrong"),
    ("bitmaps out of order", f"{RUN}/exclusions.json", swap(-1, -2, "met"), "exclusions_wrong"),
    ("a bitmap removed", f"{RUN}/exclusions.json", drop("met", 0), "exclusions_wrong"),
    ("a bitmap of another size", f"{RUN}/exclusions.json", put("met", 0, "bitmap", "AAAA"), "exclusions_wrong"),
    ("the bank of the bitmaps", f"{RUN}/exclusions.json", put("bank_root", "ab" * 32), "exclusions_wrong"),
    ("another seed", f"{RUN}/seed.json", put("seed", "ab" * 32), "seed_wrong"),
    ("another share", f"{RUN}/seed.json", put("share", "ab" * 32), "seed_wrong"),
    ("another lineage in a set", f"{RUN}/sets.jsonl", put(1, "items", 0, 0, "00" * 32), "set_wrong"),
    ("another discipline of an item", f"{RUN}/sets.jsonl", put(1, "items", 0, 1, "History"), "question_wrong"),
    ("another question in a set", f"{RUN}/sets.jsonl", put(1, "items", 0, 2, "ab" * 32), "question_wrong"),
    ("another slot of an item", f"{RUN}/sets.jsonl", put(1, "items", 0, 3, 4), "question_wrong"),
    ("another salt of a slot", f"{RUN}/sets.jsonl", put(1, "items", 0, 4, "ab" * 32), "question_wrong"),
    ("another path of a slot", f"{RUN}/sets.jsonl", put(1, "items", 0, 5, ["ab" * 32] * 7), "question_wrong"),
    ("an item removed from a set", f"{RUN}/sets.jsonl", drop(1, "items", 0), "set_wrong"),
    ("items out of order", f"{RUN}/sets.jsonl", swap(0, 1, 1, "items"), "set_wrong"),
    ("a question of an earlier set", f"{RUN}/sets.jsonl", put(0, "items", 0, 2, "ab" * 32), "set_wrong"),
    ("an earlier set as one of before the log", f"{RUN}/sets.jsonl", put(0, "drawn_in", None), "set_wrong"),
    ("an earlier set of another run", f"{RUN}/sets.jsonl", put(0, "drawn_in", "2026-11"), "set_wrong"),
    ("a set removed", f"{RUN}/sets.jsonl", drop(1), "set_wrong"),
    ("an earlier set removed", f"{RUN}/sets.jsonl", drop(0), "set_wrong"),
    ("a set twice", f"{RUN}/sets.jsonl", lambda found: found.append(found[0]), "set_wrong"),
    ("an order", f"{RUN}/orders.jsonl", swap(0, 1, 0, "order"), "order_wrong"),
    ("a place of no item", f"{RUN}/orders.jsonl", put(0, "order", 0, 99), "order_wrong"),
    ("the name of a session", f"{RUN}/orders.jsonl", put(0, "session", "s"), "order_wrong"),
    ("the model of a session", f"{RUN}/orders.jsonl", put_where("model", "c-1"), "order_wrong"),
    ("the owner of a session", f"{RUN}/orders.jsonl", put_where("organisation", "r"), "order_wrong"),
    ("the set of a session", f"{RUN}/orders.jsonl", put_where("set", "2026/0003"), "order_wrong"),
    ("the style of a session", f"{RUN}/orders.jsonl", put_where("style", "plain"), "order_wrong"),
    ("the repeat of a session", f"{RUN}/orders.jsonl", put_where("repeat", 2), "session_unknown"),
    ("a candidate as the reference", f"{RUN}/orders.jsonl", put_where("is_reference", True), "session_unknown"),
    ("a session removed from the plan", f"{RUN}/orders.jsonl", drop(0), "session_unknown"),
    ("a session added to the plan", f"{RUN}/orders.jsonl", add_session, "order_wrong"),
    ("a score", f"{EDITION}/edition.json", put("scores", 0, "score", 99.5), "score_wrong"),
    ("a score of nothing", f"{EDITION}/edition.json", put("scores", 0, "score", None), "score_wrong"),
    ("a relative score", f"{EDITION}/edition.json", put("scores", 0, "relative_score", 99.5), "score_wrong"),
    ("a count of questions", f"{EDITION}/edition.json", put("scores", 0, "question_count", 99), "score_wrong"),
    ("a count of pairs", f"{EDITION}/edition.json", put("scores", 0, "pair_count", 99), "score_wrong"),
    ("whose a score is", f"{EDITION}/edition.json", put("scores", 0, "model", "d-1"), "score_wrong"),
    ("a score removed", f"{EDITION}/edition.json", drop("scores", 0), "score_wrong"),
    ("a score twice", f"{EDITION}/edition.json", lambda found: found["scores"].append(found["scores"][0]), "score_wrong"),
    ("a weight of an edition", f"{EDITION}/edition.json", put("weights", "Law", 0.9), "score_wrong"),
    ("a discipline without weight", f"{EDITION}/edition.json", drop("weights", "Law"), "score_wrong"),
    ("the reference of an edition", f"{EDITION}/edition.json", put("reference_model", "c-1"), "score_wrong"),
    ("the month of an edition", f"{EDITION}/edition.json", put("month", "2026-12"), "score_wrong"),
    ("the revision of an edition", f"{EDITION}/edition.json", put("revision", 2), "revision_wrong"),
    ("the name of an edition", f"{EDITION}/edition.json", put("edition", "2026-09/1"), "revision_wrong"),
    ("a real edition as a simulation", f"{EDITION}/edition.json", lambda found: found.update(is_simulated=True), "score_wrong"),
    ("a gate that was shut in silence", f"{EDITION}/edition.json", lambda found: found.update(overridden=["agreement"]), "revision_wrong"),
    ("a star", f"{FIRST}/sessions.jsonl", swap_stars, "judgements_wrong"),
    ("an answer that is denied", f"{FIRST}/sessions.jsonl", deny_answer, "judgements_wrong"),
    ("no star for a question", f"{FIRST}/sessions.jsonl", put(0, "stars", "3" * 9), "judgements_wrong"),
    ("a star that is none", f"{FIRST}/sessions.jsonl", put(0, "stars", "9" * 10), "judgements_wrong"),
    ("an answer", f"{FIRST}/sessions.jsonl", change_answer, "answers_wrong"),
    ("an answer removed", f"{FIRST}/sessions.jsonl", remove_answer, "answers_wrong"),
    ("a session removed", f"{FIRST}/sessions.jsonl", drop(0), "session_missing"),
    ("a session added", f"{FIRST}/sessions.jsonl", add_session, "session_unknown"),
    ("a session of another run", f"{FIRST}/sessions.jsonl", put_where("sat_in_run", "2026-10"), "session_unknown"),
    ("a session of no run", f"{FIRST}/sessions.jsonl", put_where("sat_in_run", "2026-08"), "session_unknown"),
    ("a session under another model", f"{FIRST}/sessions.jsonl", put_where("model", "c-1"), "session_unknown"),
    ("a session under another owner", f"{FIRST}/sessions.jsonl", put_where("organisation", "c"), "session_unknown"),
    ("a session on another set", f"{FIRST}/sessions.jsonl", put_where("set", "2026/0003"), "session_unknown"),
    ("a session in another style", f"{FIRST}/sessions.jsonl", put_where("style", "plain"), "session_unknown"),
    ("a session as another repeat", f"{FIRST}/sessions.jsonl", put_where("repeat", 2), "session_unknown"),
    ("a session as the reference's", f"{FIRST}/sessions.jsonl", put_where("is_reference", True), "session_unknown"),
    ("a session that does not count", f"{FIRST}/sessions.jsonl", put(0, "is_complete", False), "judgements_wrong"),
    ("a session that counts half judged", f"{EDITION}/sessions.jsonl", put_where("is_complete", True, lambda row: "-" in row["stars"]), "judgements_wrong"),
    ("sessions out of order", f"{FIRST}/sessions.jsonl", swap(0, 1), "session_unknown"),
]  # fmt: skip


# One of each file and statement in every run. A raw change is found by the hash of its file, too.
CASES = [
    (*case, is_forged)
    for is_forged, part in ((True, 40), (False, 10))
    for case in some(CHANGES, part, kind=lambda case: (case[1], case[3]))
]


@pytest.mark.hunt
@pytest.mark.parametrize(
    ("name", "change", "statement", "is_forged"),
    [case[1:] for case in CASES],
    ids=[f"{case[0]}-{'forged' if case[4] else 'raw'}" for case in CASES],
)
def test_a_changed_file_is_found_under_its_own_statement(
    name: str, change: Change, statement: str, is_forged: bool, made: Made, check: Check
) -> None:
    (made.edit_lines if name.endswith(".jsonl") else made.edit_json)(name, change)
    if is_forged:
        made.rehash()
    found = check(made)
    assert statement in found
    assert ("file_changed" in found) is not is_forged


def test_a_committed_question_of_the_lineage_from_another_slot_is_found(
    made_world: tuple[Made, Maker], check: Check
) -> None:
    """The question is in the bank with its path; only the seed shows that another was drawn."""
    made, maker = made_world
    drawn = maker.sets["2026/0001"]
    place = next(place for place in drawn.items if len(set(maker.bank.lineages[place].slots)) > 1)
    one = maker.bank.lineages[place]
    former = drawn.items[place]
    drawn.items[place] = next(slot for slot, which in enumerate(one.slots) if which != one.slots[former])
    items = maker.list_items(drawn, with_proof=True)
    made.edit_lines("runs/2026-09/sets.jsonl", lambda rows: put(0, "items", items)(rows))
    made.find("draw", run="2026-09")["sets"][0]["root"] = maker.root_set(drawn)
    made.rehash()
    assert "set_wrong" in check(made)


def test_an_anchor_put_with_another_question_than_before_is_found(
    made_world: tuple[Made, Maker], check: Check
) -> None:
    made, maker = made_world
    drawn, before = maker.sets["2026/0003"], maker.sets["2026/0002"]
    anchors = [place for place in drawn.items if place in before.items]
    place = next(place for place in anchors if len(set(maker.bank.lineages[place].slots)) > 1)
    one = maker.bank.lineages[place]
    assert one.slots[drawn.items[place]] == one.slots[before.items[place]]
    drawn.items[place] = next(
        slot for slot, which in enumerate(one.slots) if which != one.slots[before.items[place]]
    )
    made.edit_lines(
        f"{RUN}/sets.jsonl", lambda rows: put(1, "items", maker.list_items(drawn, with_proof=True))(rows)
    )
    made.find("draw", run="2026-10")["sets"][0]["root"] = maker.root_set(drawn)
    made.rehash()
    assert check(made) >= {"set_wrong"}


@pytest.mark.parametrize("part", ["banks", "runs", "editions", "questions", "heads.jsonl", "log.jsonl"])
def test_a_missing_file_is_named(part: str, made: Made, check: Check) -> None:
    name = next((name for name in made.files if name.startswith(part)), part)
    assert "file_missing" in check(made, lambda folder: (folder / name).unlink())


@pytest.mark.parametrize("name", ["plan.json", "exclusions.json", "sets.jsonl", "orders.jsonl", "seed.json"])
def test_a_file_of_a_run_that_is_missing_accuses_no_other(name: str, made: Made, check: Check) -> None:
    assert check(made, lambda folder: (folder / "runs/2026-09" / name).unlink()) == {"file_missing"}


BANK_CHANGES: dict[str, Change] = {
    "a lineage": put(1, 0, "00" * 32),
    "a discipline": put(1, 1, "Ecology"),
    "the slots of a lineage": put(1, 2, 9),
    "the questions of a lineage": put(1, 3, "ab" * 32),
    "a lineage removed": drop(5),
    "lineages out of order": swap(1, 2),
    "the version": put(0, "bank_version", 8),
    "the count": put(0, "lineages", 9),
    "no slots": put(1, 2, 0),
    "no header": drop(0),
}


@pytest.mark.parametrize("name", BANK_CHANGES)
def test_a_changed_bank_is_found(name: str, made: Made, check: Check) -> None:
    made.edit_lines(next(name for name in made.files if name.startswith("banks/")), BANK_CHANGES[name])
    assert "bank_wrong" in check(made)


@pytest.mark.parametrize(
    "change",
    [
        put("commitment", "ab" * 32), put("salt", "ab" * 32), put("content", "{}"), put("bank_root", "ab" * 32),
        put("lineage", "ab" * 32), put("discipline", "History"), put("slot", 4), put("slot_salt", "ab" * 32), put("slots", 9),
        put("path", []), put("lineage_path", []), put("sets", []), put("sets", ["2026/0001", "2026/0002"]), drop("salt"),
    ],
)  # fmt: skip
def test_a_disclosed_question_that_is_not_what_was_committed_to_is_found(
    change: Change, made: Made, check: Check
) -> None:
    name = next(name for name in made.files if name.startswith("questions/"))
    if change is not None and json.loads(made.files[name])["slots"] == 1:
        made.edit_json(name, put("slots", 2))
    made.edit_json(name, change)
    made.rehash()
    assert check(made) == {"question_wrong"}


def test_the_names_of_questions_say_nothing_but_are_one_with_their_content(made: Made) -> None:
    found = json.loads(made.files[next(name for name in made.files if name.startswith("questions/"))])
    assert (
        digest("proctor question", bytes.fromhex(found["salt"]), found["content"]).hex()
        == found["commitment"]
    )
