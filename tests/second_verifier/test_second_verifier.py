import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.second_verifier.reading import World
from tests.second_verifier.sample import make_folder
from tests.second_verifier.sample_folder import Lie
from tests.second_verifier.verify import verify


def name_statements(faults: list[str]) -> set[str]:
    return {fault.split(":")[0] for fault in faults}


def test_an_honest_folder_holds_with_its_receipts_and_heads(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    assert verify(tmp_path, folder.receipts, folder.heads) == []


def test_an_edition_with_and_without_pictures_holds(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Lie(pictures="text_only"))
    assert verify(tmp_path, folder.receipts, folder.heads) == []


# What an operator with every key could publish, and what it is found out by.
# A round of drand's quicknet of 2023, as it was published.
OUT = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"


def name_round(number: int, signature: str) -> dict[str, Any]:
    return {
        "source": f"drand quicknet, round {number}",
        "chain": "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
        "round": number,
        "value": hashlib.sha256(bytes.fromhex(signature)).hexdigest(),
        "signature": signature,
    }


LIES: dict[str, tuple[Lie, str]] = {
    "another share than was committed to": (Lie(share=b"x" * 32), "seed_wrong"),
    "a question of the operator's choice": (Lie(swapped_set=True), "set_wrong"),
    "another slot of a lineage": (Lie(other_slot=True), "set_wrong"),
    "a value that drand did not sign": (Lie(drand=name_round(60_000_000, "8f" * 48)), "beacon_wrong"),
    "a value that is not its signature's": (
        Lie(drand=name_round(60_000_000, "8f" * 48) | {"value": "ab" * 32}),
        "beacon_wrong",
    ),
    "a round of drand that was out at the commit": (Lie(drand=name_round(657413, OUT)), "beacon_wrong"),
    "another order": (Lie(swapped_order=True), "order_wrong"),
    "a plan changed after the fact": (Lie(other_plan=True), "plan_wrong"),
    "a meeting kept back": (Lie(forgotten_met=True), "exclusions_wrong"),
    "a text that is met again by another question": (Lie(same_text=(5, 12)), "lineage_met_twice"),
    "a text that is met again after its first question left the bank": (
        Lie(same_text=(5, 12), leaves=12),
        "lineage_met_twice",
    ),
    "a passage met, of which only one question is said": (Lie(forgotten_siblings=True), "exclusions_wrong"),
    "a passage met, of which nothing is said after its question left the bank": (
        Lie(forgotten_reading=True),
        "exclusions_wrong",
    ),
    "a set sat twice": (Lie(sits_again=True), "lineage_met_twice"),
    "a run drawn until it pleases": (Lie(second_draw=True), "drawn_twice"),
    "stars changed after the roots": (Lie(stars="33333333"), "judgements_wrong"),
    "a score of nothing": (Lie(score=99.0), "score_wrong"),
    "other weights than were planned": (Lie(weights={"cs": 0.25, "physics": 0.75}), "score_wrong"),
    "a session left out": (Lie(left_out="run-2-set-3-gamma-1"), "session_missing"),
    "a first edition that was not the first": (Lie(revision=2), "revision_wrong"),
    "other answers erased than are named": (Lie(erased_root="ab" * 32), "erasure_wrong"),
    "more answers erased than were given": (Lie(erased_more=1), "erasure_wrong"),
    "a session erased twice": (Lie(erased_twice=True), "erasure_wrong"),
    "who saw pictures beside who did not": (Lie(pictures="mixed"), "score_wrong"),
    "a question whose picture is there for one alone": (Lie(pictures="moved"), "score_wrong"),
    "another picture of a disclosed question": (Lie(shown="swapped"), "file_changed"),
    "a disclosed question without its picture": (Lie(shown="lost"), "file_missing"),
    "pictures of which the scores say nothing": (Lie(pictures="unsaid"), "score_wrong"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_found_even_where_the_log_is_signed_over_it(name: str, tmp_path: Path) -> None:
    lie, statement = LIES[name]
    make_folder(tmp_path, lie)
    assert statement in name_statements(verify(tmp_path))


def test_a_log_that_is_cut_is_found_by_its_heads_or_by_one_that_is_held(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    log = tmp_path / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    assert name_statements(verify(tmp_path)) == {"log_truncated"}
    heads = (tmp_path / "heads.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "heads.jsonl").write_bytes(b"".join(heads[:-1]))
    assert verify(tmp_path) == []
    assert name_statements(verify(tmp_path, heads=folder.heads)) == {"log_truncated"}


def test_a_changed_line_a_changed_file_and_a_missing_file_are_named(tmp_path: Path) -> None:
    make_folder(tmp_path)
    bank = min((tmp_path / "banks").iterdir())
    bank.write_bytes(bank.read_bytes().replace(b'"cs"', b'"CS"', 1))
    (tmp_path / "runs/run-1/seed.json").unlink()
    plan = tmp_path / "runs/run-2/plan.json"
    plan.write_bytes(plan.read_bytes() + b" ")
    log = tmp_path / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"leaked"', b'"broken"'))
    found = name_statements(verify(tmp_path))
    assert {"bank_wrong", "file_missing", "file_changed", "log_broken"} <= found


@pytest.mark.parametrize(
    ("place", "odd"),
    [
        (("candidates",), None),
        (("candidates", 0), {}),
        (("reference_model",), []),
        (("styles",), None),
        (("rest_months",), 10**30),
        (("sets", 0, "number"), None),
        (("sets", 0, "set"), []),
        (("sets", 0, "drawn_for"), None),
        (("sets", 0, "shares", 0, 1), 1.5),
        (("sets", 0, "shares", 0, 1), 4.0),
    ],
)
def test_an_odd_plan_that_was_committed_to_is_a_fault_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[str | int, ...], odd: object
) -> None:
    make_folder(tmp_path)
    name, read = "runs/run-1/plan.json", World.read
    plan = part = json.loads((tmp_path / name).read_bytes())
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = odd
    raw = json.dumps(plan).encode()
    monkeypatch.setattr(
        World, "read", lambda world, path, *more: raw if path == name else read(world, path, *more)
    )
    assert "plan_wrong" in name_statements(verify(tmp_path))


def test_a_receipt_for_another_answer_and_one_of_another_key_are_wrong(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    answer: dict[str, Any] = {
        name: value for name, value in folder.receipts[0].items() if name != "signature"
    }
    other = answer | {"answer_sha256": "00" * 32}
    assert name_statements(verify(tmp_path, [other | {"signature": folder.sign(other)}])) == {"receipt_wrong"}
    assert name_statements(verify(tmp_path, [answer | {"signature": "AAAA"}])) == {"receipt_wrong"}


def test_a_disclosed_question_with_another_text_is_wrong(tmp_path: Path) -> None:
    make_folder(tmp_path)
    path = next((tmp_path / "questions").glob("*.json"))
    question = json.loads(path.read_bytes())
    path.write_bytes(json.dumps(question | {"content": "Another?"}).encode())
    assert name_statements(verify(tmp_path)) == {"file_changed"}
