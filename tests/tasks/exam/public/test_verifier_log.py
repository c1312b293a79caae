"""The log cut, rewritten or out of order; and what an operator enters that may not be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tasks.exam.public.hashing import compute_root, digest
from tasks.exam.public.verifier import verify
from tests.hunts import some
from tests.tasks.exam.public.made import Made, dump, hash_bytes
from tests.tasks.exam.public.maker import REFERENCE, Maker, RunPlan
from tests.tasks.exam.public.world import SHARES

Check = Callable[..., set[str]]


def edit_log(change: Callable[[list[bytes]], Any]) -> Callable[[Path], None]:
    """Change the lines of the log and nothing else."""

    def spoil(folder: Path) -> None:
        path = folder / "log.jsonl"
        lines = path.read_bytes().splitlines()
        change(lines)
        path.write_bytes(b"".join(line + b"\n" for line in lines))

    return spoil


def cut_bytes(folder: Path) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(path.read_bytes()[:-1])


LOG_CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "the last line cut off": (edit_log(lambda lines: lines.pop()), "log_truncated"),
    "half of the log cut off": (edit_log(lambda lines: lines.__delitem__(slice(50, None))), "log_truncated"),
    "a line removed": (edit_log(lambda lines: lines.pop(20)), "log_broken"),
    "the first line removed": (edit_log(lambda lines: lines.pop(0)), "log_broken"),
    "a line twice": (edit_log(lambda lines: lines.insert(20, lines[20])), "log_broken"),
    "two lines swapped": (edit_log(lambda lines: lines.insert(20, lines.pop(21))), "log_broken"),
    "a line added": (edit_log(lambda lines: lines.append(b"{}")), "log_broken"),
    "an empty line": (edit_log(lambda lines: lines.insert(3, b"")), "log_broken"),
    "a space in a line": (edit_log(lambda lines: lines.__setitem__(5, lines[5] + b" ")), "log_broken"),
    "no end of the last line": (cut_bytes, "log_broken"),
    "nothing left": (edit_log(lambda lines: lines.clear()), "log_broken"),
}


@pytest.mark.parametrize("name", LOG_CHANGES)
def test_a_log_that_is_cut_or_rewritten_is_found(name: str, made: Made, check: Check) -> None:
    spoil, statement = LOG_CHANGES[name]
    assert statement in check(made, spoil)


def test_a_log_that_was_fetched_with_the_line_ends_of_windows_is_told_so(made: Made, tmp_path: Path) -> None:
    log = made.write(tmp_path) / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"\n", b"\r\n"))
    assert "its end was made that of Windows" in verify(str(tmp_path)).faults[0][1]


def list_fields(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all single values inside a value."""
    pairs = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if pairs is None:
        return [way]
    return [found for key, inner in pairs for found in list_fields(inner, (*way, key))]


def change_value(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return ("0" if value[:1] != "0" else "1") + value[1:]
    return value + 1


@pytest.mark.hunt
def test_every_field_of_every_kind_of_entry_is_covered_by_the_chain(made: Made, tmp_path: Path) -> None:
    """One value changed in one line, as an editor of the file does: line or head no longer fits."""
    other = Made(key=Ed25519PrivateKey.generate())
    made.add("key", {"key": other.key_name, "public_key": other.public_key})
    made.heads_at.append(len(made.entries))
    made.write(tmp_path)
    kinds = {entry["kind"]: number for number, entry in enumerate(made.entries)}
    for name in made.files:
        (tmp_path / name).unlink()
    fields = [(kind, way) for kind, number in kinds.items() for way in list_fields(made.entries[number])]
    for kind, way in some(fields, 30, kind=lambda field: field[0]):
        number = kinds[kind]
        entry = json.loads(made.lines[number])
        found = entry
        for name in way[:-1]:
            found = found[name]
        found[way[-1]] = change_value(found[way[-1]])
        lines = [*made.lines[:number], dump(entry), *made.lines[number + 1 :]]
        (tmp_path / "log.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        found_faults = {statement for statement, _ in verify(str(tmp_path)).faults}
        assert found_faults & {"log_broken", "head_wrong"}, (kind, way)
    assert len(kinds) == 15
    assert len(fields) > 120


def test_heads_that_are_forged_or_do_not_fit_are_found(made: Made, check: Check) -> None:
    def spoil(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Path], None]:
        def edit(folder: Path) -> None:
            path = folder / "heads.jsonl"
            heads = [json.loads(line) for line in path.read_bytes().splitlines()]
            change(heads)
            path.write_bytes(b"".join(dump(head) + b"\n" for head in heads))

        return edit

    def put(name: str, value: object) -> Callable[[Path], None]:
        return spoil(lambda heads: heads[1].update({name: value}))

    for name, value in (
        ("number", 39),
        ("hash", "ab" * 32),
        ("signed_at", "x"),
        ("key", "ab" * 8),
        ("signature", "AAAA"),
    ):
        assert check(made, put(name, value)) == {"head_wrong"}
    assert check(made, spoil(lambda heads: heads.reverse())) == {"head_wrong"}
    stranger = Made(key=Ed25519PrivateKey.generate(), lines=made.lines)
    assert check(made, spoil(lambda heads: heads.append(stranger.sign_head(len(made.lines))))) == {
        "head_wrong"
    }
    beyond = Made(key=made.key, lines=[*made.lines, b"{}"])
    assert check(made, spoil(lambda heads: heads.append(beyond.sign_head(len(made.lines) + 1)))) == {
        "log_truncated"
    }


def again(made: Made, kind: str, body: dict[str, Any], **changed: Any) -> None:
    made.add(kind, {**body, **changed})


def insert(made: Made, place: int, kind: str, body: dict[str, Any]) -> None:
    made.add(kind, body)
    made.entries.insert(place, made.entries.pop())


def describe_erasure(made: Made, **changed: Any) -> dict[str, Any]:
    """The erasure of all of run 2026-09, as it is entered."""
    closed = sorted(
        (
            entry["body"]
            for entry in made.entries
            if entry["kind"] == "close"
            and entry["body"]["run"] == "2026-09"
            and entry["body"]["answer_count"]
        ),
        key=lambda body: body["session"],
    )
    leaves = [
        digest("proctor session answers", body["session"], bytes.fromhex(body["answers_root"]))
        for body in closed
    ]
    return {
        "run": "2026-09",
        "cause": "policy",
        "sessions": None,
        "session_count": len(closed),
        "answer_count": sum(body["answer_count"] for body in closed),
        "answers_root": compute_root(leaves).hex(),
        **changed,
    }


def erase(made: Made, **changed: Any) -> None:
    made.add("erasure", describe_erasure(made, **changed))


def erase_twice(made: Made) -> None:
    erase(made)
    erase(made)


def find_place(made: Made, kind: str, run: str) -> int:
    return next(
        place
        for place, entry in enumerate(made.entries)
        if entry["kind"] == kind and entry["body"].get("run") == run
    )


def number_of(made: Made, kind: str, run: str) -> int:
    """The number of the last entry of the kind."""
    numbers: list[int] = [
        entry["number"] for entry in made.entries if entry["kind"] == kind and entry["body"].get("run") == run
    ]
    return max(numbers)


ENTERED: dict[str, tuple[Callable[[Made], Any], str]] = {
    "a run drawn twice": (lambda made: again(made, "draw", made.find("draw", run="2026-10")), "drawn_twice"),
    "a run committed to again after its draw": (
        lambda made: again(
            made, "commit", made.find("commit", run="2026-11"), replaces=number_of(made, "commit", "2026-11"), reason="better"
        ),
        "drawn_twice",
    ),
    "a commit that replaces none": (lambda made: made.find("commit", run="2026-10").update(replaces=None), "drawn_twice"),
    "a commit that replaces another one": (lambda made: made.find("commit", run="2026-10").update(replaces=2), "drawn_twice"),
    "a commit replaced without a reason": (lambda made: made.find("commit", run="2026-10").update(reason=" "), "drawn_twice"),
    "a first commit that replaces one": (lambda made: made.find("commit", run="2026-11").update(replaces=2), "drawn_twice"),
    "a draw by a commit that was replaced": (
        lambda made: made.find("draw", run="2026-10").update(commit=find_place(made, "commit", "2026-10") + 1),
        "drawn_twice",
    ),
    "a set drawn in two runs": (lambda made: made.find("draw", run="2026-11")["sets"][0].update(set="2026/0003"), "drawn_twice"),
    "another commitment to the share": (
        lambda made: made.find("commit", run="2026-10").update(share_commitment="ab" * 32),
        "seed_wrong",
    ),
    "another commitment to the seed": (lambda made: made.find("draw", run="2026-10").update(seed_commitment="ab" * 32), "seed_wrong"),
    "another beacon": (lambda made: made.find("draw", run="2026-10")["beacon"].update(value="7"), "seed_wrong"),
    "a signature of drand's that is another's": (
        lambda made: made.find("draw", run="2026-10")["beacon"].update(
            signature="a" * 96, value=hash_bytes(bytes.fromhex("a" * 96))
        ),
        "beacon_wrong",
    ),
    "another round of drand": (lambda made: made.find("commit", run="2026-10")["beacon"].update(round=657414), "beacon_wrong"),
    "another chain": (lambda made: made.find("commit", run="2026-10")["beacon"].update(chain="ab" * 32), "beacon_wrong"),
    "a signature of drand's left out": (lambda made: made.find("draw", run="2026-10")["beacon"].pop("signature"), "beacon_wrong"),
    "a round of drand's that was given out before the commit": (
        lambda made: made.entries[find_place(made, "commit", "2026-10") + 2].update(at="2026-10-05T08:00:00+00:00"),
        "beacon_wrong",
    ),
    "a beacon of another source": (lambda made: made.find("draw", run="2026-10")["beacon"].update(source="dice"), "seed_wrong"),
    "a beacon left out": (lambda made: made.find("draw", run="2026-10").update(beacon=None), "seed_wrong"),
    "a beacon that was not named": (lambda made: made.find("commit", run="2026-10").update(beacon=None), "seed_wrong"),
    "another share of a candidate": (lambda made: made.find("share", run="2026-10").update(share="ab" * 32), "seed_wrong"),
    "a share of a candidate removed": (lambda made: made.entries.pop(find_place(made, "share", "2026-10") + 2), "seed_wrong"),
    "two shares of a candidate": (lambda made: made.find("share", run="2026-10").update(candidate="candidate:a-1"), "share_wrong"),
    "a share for a commit that was replaced": (lambda made: made.find("share", run="2026-10").update(commit=1), "share_wrong"),
    "a share after the draw": (lambda made: again(made, "share", made.find("share", run="2026-10"), candidate="x"), "share_wrong"),
    "another plan committed to": (lambda made: made.find("commit", run="2026-09").update(plan_commitment="ab" * 32), "plan_wrong"),
    "another month committed to": (lambda made: made.find("commit", run="2026-09").update(month="2026-08"), "plan_wrong"),
    "other exclusions committed to": (
        lambda made: made.find("commit", run="2026-09").update(exclusions_root="ab" * 32),
        "exclusions_wrong",
    ),
    "another bank committed to": (lambda made: made.find("commit", run="2026-09")["bank"].update(root="ab" * 32), "file_missing"),
    "another size of the bank": (lambda made: made.find("commit", run="2026-09")["bank"].update(lineages=9), "bank_wrong"),
    "another version of the bank": (lambda made: made.find("commit", run="2026-09")["bank"].update(version=9), "bank_wrong"),
    "another count of sessions": (lambda made: made.find("commit", run="2026-09").update(session_count=9), "order_wrong"),
    "another count of candidates": (lambda made: made.find("commit", run="2026-09").update(candidate_count=9), "plan_wrong"),
    "another root of a set": (lambda made: made.find("draw", run="2026-09")["sets"][0].update(root="ab" * 32), "set_wrong"),
    "other orders drawn": (lambda made: made.find("draw", run="2026-09").update(orders_root="ab" * 32), "order_wrong"),
    "a set left out of the draw": (lambda made: made.find("draw", run="2026-09")["sets"].pop(), "plan_wrong"),
    "a session opened that was not planned": (lambda made: made.add("open", {"run": "2026-09", "session": "x"}), "session_unknown"),
    "a session opened before the draw": (
        lambda made: insert(made, find_place(made, "draw", "2026-10"), "open", {"run": "2026-10", "session": "x"}),
        "session_unknown",
    ),
    "a session of no run": (lambda made: made.add("open", {"run": "2026-08", "session": "x"}), "session_unknown"),
    "a session opened twice": (
        lambda made: again(made, "open", made.entries[find_place(made, "open", "2026-09")]["body"]),
        "log_broken",
    ),
    "a session closed twice": (
        lambda made: again(made, "close", made.entries[find_place(made, "close", "2026-09")]["body"]),
        "answers_wrong",
    ),
    "a session closed that was not opened": (lambda made: made.entries.pop(find_place(made, "open", "2026-09")), "session_unknown"),
    "a session never closed": (lambda made: made.entries.pop(find_place(made, "close", "2026-09")), "session_missing"),
    "another root of answers": (
        lambda made: made.entries[find_place(made, "close", "2026-09")]["body"].update(answers_root="ab" * 32),
        "answers_wrong",
    ),
    "another count of answers": (
        lambda made: made.entries[find_place(made, "close", "2026-09")]["body"].update(answer_count=1),
        "answers_wrong",
    ),
    "another count of questions": (
        lambda made: made.entries[find_place(made, "close", "2026-09")]["body"].update(question_count=99),
        "answers_wrong",
    ),
    "a run disclosed that was not drawn": (lambda made: made.entries.pop(find_place(made, "draw", "2026-09")), "plan_wrong"),
    "a run disclosed a second time": (lambda made: made.add("disclose", {"run": "2026-09", "files": {}}), "file_changed"),
    "a file left out of a disclosure": (lambda made: made.find("disclose", run="2026-09")["files"].pop("seed.json"), "file_missing"),
    "a file left out of an edition": (lambda made: made.find("edition", run="2026-10")["files"].pop("edition.json"), "file_missing"),
    "a gap in the revisions": (lambda made: made.find("edition", run="2026-09").update(revision=3, edition="2026-09/3"), "revision_wrong"),
    "a second first revision": (lambda made: again(made, "edition", made.find("edition", run="2026-10")), "revision_wrong"),
    "a revision that replaces another one": (lambda made: made.find("edition", run="2026-09").update(replaces="2026-10/1"), "revision_wrong"),
    "a revision that replaces none": (lambda made: made.find("edition", run="2026-09").update(replaces=None), "revision_wrong"),
    "a revision without a reason": (lambda made: made.find("edition", run="2026-09").update(reason=None), "revision_wrong"),
    "a first edition that replaces one": (lambda made: made.find("edition", run="2026-10").update(replaces="2026-09/1"), "revision_wrong"),
    "an edition of no run": (lambda made: made.find("edition", run="2026-10").update(run="2026-08", edition="2026-08/1"), "plan_wrong"),
    "another root of an edition's answers": (lambda made: made.find("edition", run="2026-10").update(answers_root="ab" * 32), "answers_wrong"),
    "another root of judgements": (lambda made: made.find("edition", run="2026-10").update(judgements_root="ab" * 32), "judgements_wrong"),
    "another question disclosed": (lambda made: made.find("question").update(commitment="ab" * 32), "question_wrong"),
    "an erasure of another root": (lambda made: erase(made, answers_root="ab" * 32), "erasure_wrong"),
    "an erasure of fewer answers": (lambda made: erase(made, answer_count=1), "erasure_wrong"),
    "an erasure of a session that is not there": (lambda made: erase(made, sessions=["s-none"]), "erasure_wrong"),
    "an erasure of nothing": (lambda made: erase(made, sessions=[]), "erasure_wrong"),
    "an erasure done twice": (erase_twice, "erasure_wrong"),
    "an erasure before any edition": (
        lambda made: insert(made, find_place(made, "edition", "2026-09"), "erasure", describe_erasure(made)),
        "erasure_wrong",
    ),
    "an erasure for another cause": (lambda made: erase(made, cause="shame"), "log_broken"),
    "a second beginning": (lambda made: again(made, "begin", made.entries[0]["body"]), "log_broken"),
    "a key under another name": (lambda made: made.add("key", {"key": "ab" * 8, "public_key": made.public_key}), "log_broken"),
    "a name that is a path": (lambda made: made.find("disclose", run="2026-09")["files"].update({"../x": "ab" * 32}), "log_broken"),
    "a run that is a path": (lambda made: made.add("open", {"run": "../x", "session": "x"}), "log_broken"),
    "a field left out": (lambda made: made.find("close").pop("reason"), "log_broken"),
    "a field of another kind": (lambda made: made.find("close").update(answer_count="7"), "log_broken"),
}  # fmt: skip


def test_what_was_published_holds_after_its_texts_were_erased(made: Made, check: Check) -> None:
    erase(made)
    assert check(made) == set()


@pytest.mark.parametrize("name", ENTERED)
def test_what_may_not_be_entered_is_found_although_chain_and_heads_are_good(
    name: str, made: Made, check: Check
) -> None:
    change, statement = ENTERED[name]
    change(made)
    found = check(made)
    assert statement in found
    assert not found & {"log_truncated", "head_wrong"}


def plan_again(met: dict[str, set[int]], **changed: Any) -> RunPlan:
    """A run of December in which `a` sits a new set, drawn as if it had met what `met` says."""
    plain = [[name, 10, 0] for name, _, _ in SHARES]
    values = {"run": "2026-12", "month": "2026-12", "season": "2026", "policy": "unique", "repeats": 1}
    sittings = [("a-1", "a", "2026/0009", False), (REFERENCE, "r", "2026/0009", True)]
    return RunPlan(
        **{
            **values,
            "new": [("2026/0009", ["a"], plain)],
            "sittings": sittings,
            "met": met,
            "asked": {},
            **changed,
        }
    )


def list_met(maker: Maker, owner: str) -> set[int]:
    """What an organisation met in the real runs of the world, but the one that is not disclosed."""
    names = {
        one.set_name
        for run in ("2026-09", "2026-10")
        for one in maker.sittings[run]
        if one.organisation == owner
    }
    return {place for name in names for place in maker.sets[name].items}


def test_a_run_that_hides_what_an_organisation_met_is_found(
    made_world: tuple[Made, Maker], check: Check
) -> None:
    made, maker = made_world
    maker.add_run(plan_again({"a": set(), "r": list_met(maker, "r")}), at="2026-12-05T08:00:00Z")
    assert check(made) == {"exclusions_wrong", "lineage_met_twice"}


def test_a_run_that_keeps_what_was_met_away_passes_and_one_that_invents_some_is_found(
    made_world: tuple[Made, Maker], check: Check
) -> None:
    made, maker = made_world
    made.entries = [entry for entry in made.entries if entry["body"].get("run") != "2026-11"]
    met = {owner: list_met(maker, owner) for owner in "ar"}
    wrong = Maker(made, maker.bank, maker.rng)
    wrong.sets, wrong.sittings = dict(maker.sets), dict(maker.sittings)
    kept = list(made.entries)
    maker.add_run(plan_again(met), at="2026-12-05T08:00:00Z")
    assert check(made) == set()
    made.entries = kept
    more = next(place for place in range(110) if place not in met["a"])
    wrong.add_run(plan_again({**met, "a": met["a"] | {more}}), at="2026-12-05T08:00:00Z")
    assert check(made) == {"exclusions_wrong"}


@pytest.mark.parametrize(
    ("rest_months", "faults"), [(2, set[str]()), (3, {"exclusions_wrong", "lineage_met_twice"})]
)
def test_what_has_rested_may_return(
    rest_months: int, faults: set[str], made_world: tuple[Made, Maker], check: Check
) -> None:
    """Met in September and on 5 October; in December, what is older than two months returns."""
    made, maker = made_world
    met = (
        {owner: set(maker.sets["2026/0003"].items) for owner in "ar"}
        if rest_months == 2
        else {"a": set(), "r": set()}
    )
    maker.add_run(plan_again(met, rest_months=rest_months), at="2026-12-05T08:00:00Z")
    found = check(made)
    assert found == faults


def test_an_organisation_that_sits_a_set_again_is_found(made_world: tuple[Made, Maker], check: Check) -> None:
    made, maker = made_world
    met = {owner: list_met(maker, owner) for owner in "abr"}
    sittings = [
        ("a-1", "a", "2026/0001", False),
        ("b-1", "b", "2026/0009", False),
        (REFERENCE, "r", "2026/0009", True),
    ]
    plain = [[name, count, 0] for name, count, _ in SHARES]
    maker.add_run(
        plan_again(met, sittings=sittings, new=[("2026/0009", ["b"], plain)]), at="2026-12-05T08:00:00Z"
    )
    assert check(made) == {"lineage_met_twice"}
