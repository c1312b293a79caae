"""Who holds the key and rewrites log, heads and files: a witness or a receipt reveals it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tasks.exam.public.verifier import verify
from tests.tasks.exam.public.made import Made, hash_bytes, root_answers
from tests.tasks.exam.public.maker import REFERENCE, Maker
from tests.tasks.exam.public.world import make_world

Check = Callable[..., set[str]]


@pytest.fixture
def witness(made: Made, tmp_path: Path) -> Path:
    """The last head of the true log, as a witness keeps it."""
    made.chain()
    path = tmp_path / "witness.jsonl"
    path.write_text(json.dumps(made.sign_head(len(made.lines))) + "\n")
    return path


@pytest.fixture
def receipts(made: Made, tmp_path: Path) -> Path:
    """The receipts of all candidates."""
    path = tmp_path / "receipts.jsonl"
    path.write_text("".join(json.dumps(receipt) + "\n" for receipt in made.receipts))
    return path


def publish_again(maker: Maker) -> None:
    """Write the editions of September anew in their places, with the scores that follow."""
    made = maker.made
    kept = made.entries
    for revision in (1, 2):
        made.entries = []
        maker.publish("2026-09", revision)
        new = made.entries.pop()["body"]
        body = next(entry["body"] for entry in kept if entry["body"].get("edition") == new["edition"])
        body.update({name: new[name] for name in ("files", "answers_root", "judgements_root")})
    made.entries = kept
    made.rehash()


def find_candidate(maker: Maker) -> Any:
    return next(one for one in maker.sittings["2026-09"] if one.model == "a-1")


def test_a_star_changed_in_all_that_rests_on_it_is_found_by_a_witness_alone(
    made_world: tuple[Made, Maker], check: Check, witness: Path
) -> None:
    made, maker = made_world
    one = find_candidate(maker)
    place = next(place for place, star in enumerate(one.stars) if star in "012")
    one.stars = one.stars[:place] + "3" + one.stars[place + 1 :]
    publish_again(maker)
    assert check(made) == set()
    assert check(made, heads=[str(witness)]) == {"log_truncated"}


def test_an_answer_changed_in_all_that_rests_on_it_is_found_by_its_receipt_and_by_a_witness(
    made_world: tuple[Made, Maker], check: Check, witness: Path, receipts: Path
) -> None:
    made, maker = made_world
    assert check(made, heads=[str(witness)], receipts=[str(receipts)]) == set()
    one = find_candidate(maker)
    place = next(place for place, answer in enumerate(one.answers[:2]) if answer)
    one.answers[place] = hash_bytes(b"a better answer")
    made.find("close", session=one.session)["answers_root"] = root_answers(one.session, one.answers).hex()
    publish_again(maker)
    assert check(made) == set()
    assert check(made, receipts=[str(receipts)]) == {"receipt_wrong"}
    assert check(made, heads=[str(witness)]) == {"log_truncated"}


def test_an_answer_removed_from_all_that_rests_on_it_is_found_by_its_receipt(
    made_world: tuple[Made, Maker], check: Check, receipts: Path
) -> None:
    made, maker = made_world
    one = find_candidate(maker)
    place = next(place for place, answer in enumerate(one.answers[:2]) if answer)
    one.answers[place] = None
    stars = list(one.stars)
    stars[one.order[place]] = "u"
    one.stars = "".join(stars)
    body = made.find("close", session=one.session)
    body["answers_root"] = root_answers(one.session, one.answers).hex()
    body["answer_count"] -= 1
    publish_again(maker)
    assert check(made) == set()
    assert check(made, receipts=[str(receipts)]) == {"receipt_wrong"}


def test_the_last_entries_cut_off_with_their_heads_are_found_by_a_witness_alone(
    made: Made, check: Check, witness: Path
) -> None:
    made.entries = made.entries[:-1]
    made.heads_at = [1, 40]
    assert check(made) == set()
    assert check(made, heads=[str(witness)]) == {"log_truncated"}


def test_a_log_written_anew_with_another_key_is_found_by_a_witness_and_by_the_key(
    made: Made, check: Check, witness: Path, receipts: Path
) -> None:
    true_key = made.public_key
    assert check(made, key=true_key) == set()
    assert check(made, key=made.key_name) == set()
    made.key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    made.entries[0]["body"].update(key=made.key_name, public_key=made.public_key)
    assert check(made) == set()
    assert check(made, heads=[str(witness)]) == {"log_truncated"}
    assert check(made, key=true_key) == {"head_wrong"}
    assert check(made, receipts=[str(receipts)]) == {"receipt_wrong"}
    # The true key named beside the forger's own gives the forger's heads no more weight.
    made.add("key", {"key": hash_bytes(base64.b64decode(true_key))[:16], "public_key": true_key})
    made.heads_at.append(len(made.entries))
    assert check(made, key=true_key) == {"head_wrong"}


@pytest.mark.parametrize("text", ["", "[]"])
def test_a_file_without_a_receipt_shows_nothing_and_is_told(made: Made, tmp_path: Path, text: str) -> None:
    (given := tmp_path / "receipts.json").write_text(text)
    findings = verify(str(made.write(tmp_path / "public")), receipts=[str(given)])
    assert (findings.faults, f"{given} holds no receipt." in findings.notes) == ([], True)


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_a_head_that_a_shell_of_windows_kept_is_read(
    made: Made, check: Check, witness: Path, code: str
) -> None:
    witness.write_text(witness.read_text().replace("\n", "\r\n"), encoding=code)
    assert check(made, heads=[str(witness)]) == set()


def test_heads_that_are_given_are_held_to_their_own_signature(
    made: Made, check: Check, witness: Path
) -> None:
    head = json.loads(witness.read_text())
    witness.write_text(json.dumps([{**head, "signed_at": "another moment"}, head]))
    assert check(made, heads=[str(witness)]) == {"head_wrong"}
    for wrong in ("{}", "no JSON", "[[[", '{"number": 1e999}', "[" * 100_000):
        witness.write_text(wrong)
        assert check(made, heads=[str(witness)]) == {"head_wrong"}


RECEIPTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing changed": ({}, set()),
    "another answer": ({"answer_sha256": "ab" * 32}, {"receipt_wrong"}),
    "another session": ({"session_id": "s"}, {"receipt_wrong"}),
    "another question": ({"seq": 9}, {"receipt_wrong"}),
    "another entry": ({"entry": 6}, {"receipt_wrong"}),
    "another head": ({"head": "cd" * 32}, {"receipt_wrong"}),
    "no signature": ({"signature": None}, {"receipt_wrong"}),
    "a signature of nothing": ({"signature": "AAAA"}, {"receipt_wrong"}),
    "a number of another kind": ({"seq": "1"}, {"receipt_wrong"}),
    "a number beyond all bounds": ({"seq": 10**30}, {"receipt_wrong"}),
}


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_receipt_is_good_only_as_it_was_given(name: str, made: Made, check: Check, tmp_path: Path) -> None:
    changed, faults = RECEIPTS[name]
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({"receipt": {**made.receipts[0], **changed}}))
    assert check(made, receipts=[str(path)]) == faults


def test_a_signed_receipt_of_an_answer_that_the_session_has_not_is_refused(
    made: Made, check: Check, tmp_path: Path
) -> None:
    path = tmp_path / "receipt.json"
    for receipt in (
        made.sign_receipt(made.receipts[0]["session_id"], made.receipts[0]["seq"], "ab" * 32),
        made.sign_receipt(made.receipts[0]["session_id"], 0, made.receipts[0]["answer_sha256"]),
        made.sign_receipt(made.receipts[0]["session_id"], 11, made.receipts[0]["answer_sha256"]),
        made.sign_receipt("nobody's", 1, "ab" * 32),
    ):
        path.write_text(json.dumps(receipt))
        assert check(made, receipts=[str(path)]) == {"receipt_wrong"}


def test_what_cannot_be_checked_is_a_note_and_no_fault(tmp_path: Path) -> None:
    made, maker = make_world()
    open_run = maker.sittings["2026-11"][0]
    made.add("open", {"run": "2026-11", "session": open_run.session}, "2026-10-05T09:00:00+00:00")
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(made.sign_receipt(open_run.session, 1, "ab" * 32)))
    (tmp_path / "public").mkdir()
    folder = made.write(tmp_path / "public")
    (folder / "runs" / "2026-08").mkdir()
    (folder / "runs" / "2026-08" / "plan.json").write_text("{}")
    findings = verify(str(folder), receipts=[str(path)])
    assert findings.faults == []
    assert [note.replace(str(path), "FILE") for note in findings.notes] == [
        "The last 1 entries of the log have no signed head yet.",
        # The round that was published is one of 2023, and so its commitment is.
        *(note for note in findings.notes if note.startswith("Entry ") and "is dated 2023-09-15" in note),
        "Run 2026-09: the operator alone chose the seed (no beacon, no share of a candidate).",
        "Run sim-2026-09: the operator alone chose the seed (no beacon, no share of a candidate).",
        "Run 2026-11 is not disclosed yet.",
        "edition 2026-09/1: 26 of 200 questions were not answered and count 0",
        "edition sim-2026-09/1: 5 of 40 questions were not answered and count 0",
        "edition 2026-10/1: 22 of 160 questions were not answered and count 0",
        "edition 2026-09/2: 26 of 200 questions were not answered and count 0",
        f"receipt 1 of FILE: its signature is good; the answers of session {open_run.session} are in no edition yet.",
        "runs/2026-08/plan.json is named by no entry of the log.",
    ]


def test_runs_of_before_the_log_are_notes_where_the_log_says_that_there_were_some(
    made: Made, check: Check
) -> None:
    """Runs, sessions and editions without a commit, and a set that is older than the log."""
    made.entries[0]["body"]["has_former_runs"] = True
    made.add("close", {**made.find("close"), "run": "2026-08"})
    made.edit_lines("runs/2026-10/sets.jsonl", lambda rows: rows[0].update(drawn_in=None))
    body = {**made.find("edition", run="sim-2026-09"), "run": "2026-08", "edition": "2026-08/1"}
    made.add("edition", body)
    rows = [json.loads(line) for line in made.files["editions/sim-2026-09-1/sessions.jsonl"].splitlines()]
    made.files["editions/2026-08-1/sessions.jsonl"] = b""
    made.files["editions/2026-08-1/edition.json"] = made.files["editions/sim-2026-09-1/edition.json"]
    made.edit_lines(
        "editions/2026-08-1/sessions.jsonl",
        lambda found: found.extend(row | {"sat_in_run": "2026-08"} for row in rows),
    )
    made.edit_json(
        "editions/2026-08-1/edition.json", lambda found: found.update(run="2026-08", edition="2026-08/1")
    )
    made.rehash()
    # The closing of one session of that run is known, and it is no session of the edition: that is a fault.
    assert check(made) == {"session_missing"}
    made.entries = [
        entry
        for entry in made.entries
        if not (entry["kind"] == "close" and entry["body"]["run"] == "2026-08")
    ]
    assert check(made) == set()
    made.entries[0]["body"]["has_former_runs"] = False
    assert check(made) == {"plan_wrong", "session_unknown", "set_wrong"}


def test_the_reference_that_is_not_of_the_plan_is_one_of_an_earlier_plan(
    made_world: tuple[Made, Maker], check: Check
) -> None:
    made, maker = made_world
    sessions = {one.session for one in maker.sittings["2026-10"] if one.model == REFERENCE}
    made.edit_lines(
        "runs/2026-10/orders.jsonl",
        lambda rows: [row.update(model="old") for row in rows if row["session"] in sessions],
    )
    made.rehash()
    assert {"session_unknown", "order_wrong"} <= check(made)
