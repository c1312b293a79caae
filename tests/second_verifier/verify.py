"""A second verifier of the public folder, written from docs/verify.md alone.

No line of Proctor is imported.

`python -m tests.second_verifier.verify FOLDER` prints `statement: what` for every fault.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.second_verifier.reading import (
    Bank,
    World,
    check_heads,
    climb,
    digest,
    hexes,
    parse_lines,
    read_bank,
    read_keys,
    read_log,
    signed_by,
    tree,
)
from tests.second_verifier.runs import check_runs, gather_runs, read_runs


def verify(
    folder: Path, receipts: Sequence[Mapping[str, Any]] = (), heads: Sequence[Mapping[str, Any]] = ()
) -> list[str]:
    """The faults of a public folder, `statement: what` each; empty when everything in it holds."""
    faults: list[str] = []

    def found(statement: str, what: str) -> None:
        line = f"{statement}: {what}"
        if line not in faults:
            faults.append(line)

    world = World(Path(folder), found)
    read_log(world)
    read_keys(world)
    check_heads(world, [dict(head) for head in heads])
    gather_runs(world)
    read_runs(world)
    check_runs(world)
    _check_editions(world)
    _check_erasures(world)
    _check_questions(world)
    _check_receipts(world, receipts)
    return faults


def _check_editions(world: World) -> None:
    revisions: dict[str, list[str]] = defaultdict(list)
    for number, body in world.of("edition"):
        name, run_name, before = body["edition"], body["run"], revisions[body["run"]]
        expected = (len(before) + 1, f"{run_name}/{len(before) + 1}", before[-1] if before else None)
        if (body["revision"], name, body.get("replaces")) != expected:
            world.found("revision_wrong", f"entry {number}: edition {name} after {before or 'none'}")
        before.append(name)
        raws = {
            file: world.read(f"editions/{run_name}-{body['revision']}/{file}", str(wanted))
            for file, wanted in body["files"].items()
        }
        for file in ("edition.json", "sessions.jsonl"):
            if file not in raws:
                world.found("file_missing", f"edition {name} has no {file}")
        if raws.get("edition.json") is None or raws.get("sessions.jsonl") is None:
            continue
        try:
            edition, sessions = (
                json.loads(raws["edition.json"] or b""),
                parse_lines(raws["sessions.jsonl"] or b""),
            )
            _check_edition(world, number, body, edition, sessions)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            world.found("score_wrong", f"edition {name} cannot be read ({error!r})")


def _check_edition(
    world: World,
    number: int,
    body: Mapping[str, Any],
    edition: dict[str, Any],
    sessions: list[dict[str, Any]],
) -> None:
    name, run = body["edition"], world.runs.get(body["run"])
    if any(edition[field] != body[field] for field in ("edition", "run", "revision")):
        world.found("score_wrong", f"edition {name} is printed as {edition['edition']}")
    if run is not None and run.is_whole:
        same = ("weights", "reference_model", "month")
        if any(edition[field] != run.plan.get(field) for field in same):
            world.found(
                "score_wrong", f"edition {name} has another month, reference or other weights than the plan"
            )
    names = [session["session"] for session in sessions]
    if names != sorted(set(names)):
        world.found("answers_wrong", f"the sessions of edition {name} do not stand by session, each once")
    roots = [digest("proctor session answers", one["session"], hexes(_root_of(one))) for one in sessions]
    if tree(roots) != body["answers_root"]:
        world.found("answers_wrong", f"the answers root of edition {name}")
    if (
        tree([digest("proctor judgements", one["session"], one["stars"]) for one in sessions])
        != body["judgements_root"]
    ):
        world.found("judgements_wrong", f"the judgements root of edition {name}")
    for session in sessions:
        _check_session(world, number, edition, session)
    _check_names(world, sessions)
    for session_name, (closed_at, close) in world.closes.items():
        if close["run"] == body["run"] and closed_at < number and session_name not in names:
            world.found("session_missing", f"session {session_name} is closed and not in edition {name}")
    _check_scores(world, edition, sessions)


def _root_of(session: Mapping[str, Any]) -> str:
    answered = [(seq, answer) for seq, answer in enumerate(session["answers"], 1) if answer is not None]
    return tree(
        [digest("proctor answer", session["session"], seq, hexes(answer)) for seq, answer in answered]
    )


def _check_session(world: World, number: int, edition: Mapping[str, Any], session: dict[str, Any]) -> None:
    name, run = session["session"], world.runs.get(session["sat_in_run"])
    closed_at, close = world.closes.get(name, (None, None))
    is_closed = close is not None and closed_at is not None and closed_at < number
    is_known = run is not None and bool(run.commits)
    stars, answers = session["stars"], session["answers"]
    if not is_known and not world.has_former_runs:
        world.found(
            "session_unknown",
            f"session {name} is of run {session['sat_in_run']}, which the log does not know",
        )
    if is_known and session["is_complete"] and not is_closed:
        world.found(
            "session_missing", f"session {name} is in edition {edition['edition']} and was not closed before"
        )
    if is_known and session["is_complete"] != (is_closed and bool(stars) and "-" not in stars):
        world.found("judgements_wrong", f"session {name} is complete or not, against its stars")
    if session["is_reference"] != (session["model"] == edition["reference_model"]):
        world.found("score_wrong", f"session {name}: who the reference is")
    if set(stars) - set("0123ux-"):
        world.found("judgements_wrong", f"the stars of session {name} are {stars!r}")
    if is_closed and close is not None:
        world.answers[name] = answers
        given = sum(answer is not None for answer in answers)
        if _root_of(session) != close["answers_root"] or given != close["answer_count"]:
            world.found("answers_wrong", f"the answers of session {name} are not those of its close")
        if len(answers) != close["question_count"]:
            world.found(
                "answers_wrong",
                f"session {name} has {len(answers)} questions, {close['question_count']} at its close",
            )
    if run is None or not run.is_whole:
        return
    planned = run.orders.get(name)
    said = ("set", "model", "style", "repeat")
    if planned is None or any(planned[field] != session[field] for field in said):
        world.found("session_unknown", f"session {name} is not planned so in run {run.name}")
        return
    order = planned["order"]
    if len(stars) != len(order):
        world.found("judgements_wrong", f"session {name} has {len(stars)} stars for {len(order)} questions")
    elif len(answers) != len(order):
        world.found("answers_wrong", f"session {name} has {len(answers)} answers for {len(order)} questions")
    elif any((answers[s] is None) != (stars[place] == "u") for s, place in enumerate(order)):
        world.found("judgements_wrong", f"session {name}: `u` does not stand where there is no answer")


def _check_erasures(world: World) -> None:
    """Which sessions' answers are gone follows from the log; the root over them, too."""
    erased: dict[str, set[str]] = defaultdict(set)
    for number, body in world.of("erasure"):
        gone = erased[body["run"]]
        closed = {
            name: close
            for name, (at, close) in world.closes.items()
            if at < number and close["run"] == body["run"] and close["answer_count"] > 0
        }
        names = sorted(closed.keys() - gone) if body["sessions"] is None else body["sessions"]
        is_published = any(at < number and one["run"] == body["run"] for at, one in world.of("edition"))
        if not is_published:
            world.found("erasure_wrong", f"entry {number} erases what was not published")
        if not names or names != sorted(set(names)) or not set(names) <= closed.keys() or gone & set(names):
            world.found("erasure_wrong", f"the sessions of entry {number}")
            continue
        leaves = [
            digest("proctor session answers", name, hexes(closed[name]["answers_root"])) for name in names
        ]
        said = (body["session_count"], body["answer_count"], body["answers_root"])
        if said != (len(names), sum(closed[name]["answer_count"] for name in names), tree(leaves)):
            world.found("erasure_wrong", f"the counts or the root of entry {number}")
        gone |= set(names)


def _check_names(world: World, sessions: list[dict[str, Any]]) -> None:
    """Check the names by which organisations are printed.

    An organisation is printed by its key or by a name of its own: one name for each key, and one key for each name.
    """
    pairs = set()
    for session in sessions:
        run = world.runs.get(session["sat_in_run"])
        planned = None if run is None else run.orders.get(session["session"])
        if planned is not None:
            pairs.add((planned["organisation"], session["organisation"]))
    if len({key for key, _ in pairs}) != len(pairs) or len({name for _, name in pairs}) != len(pairs):
        world.found("session_unknown", "the organisations of the sessions are not those that were planned")


def _check_scores(world: World, edition: Mapping[str, Any], sessions: list[dict[str, Any]]) -> None:
    """S and R from the stars, and those of every series where there are pictures."""
    scope, series = edition.get("picture_scope"), edition.get("series", [])
    if scope is None and any(one.get("pictures") for one in sessions):
        world.found("score_wrong", f"edition {edition['edition']} does not say how pictures count")
    if scope == "pictures" and any(line["series"] == "alt_text" for line in series):
        world.found("score_wrong", f"edition {edition['edition']} mixes who saw pictures and who did not")
    _check_lines(world, edition, sessions, edition["scores"], is_text=scope == "text_only", is_all=True)
    if scope is not None:
        for name in ("text_only", "pictures", "alt_text"):
            lines = [line for line in series if line["series"] == name]
            is_text = name == "text_only"
            own = {(line["model"], line["style"]) for line in lines}
            sat = [one for one in sessions if is_text or (one["model"], one["style"]) in own]
            _check_lines(world, edition, sat, lines, is_text=is_text, is_all=is_text)


def _check_lines(
    world: World,
    edition: Mapping[str, Any],
    sessions: list[dict[str, Any]],
    lines: list[dict[str, Any]],
    *,
    is_text: bool,
    is_all: bool,
) -> None:
    """One way of counting; not checked as long as a set of its sessions is not disclosed."""
    sets = {
        name: line["items"] for run in world.runs.values() if run.is_whole for name, line in run.sets.items()
    }
    complete = [one for one in sessions if one["is_complete"]]
    if any(one["set"] not in sets or len(one["stars"]) != len(sets[one["set"]]) for one in complete):
        return
    weights = {name: weight for name, weight in edition["weights"].items() if weight}
    # (model, style) → (discipline, question) → its stars, a character each
    stars: dict[tuple[str, str], dict[tuple[str, str, str], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    shows: dict[tuple[str, str, str], bool] = {}
    for one in complete:
        mine = stars[one["model"], one["style"]]
        for place, (item, star) in enumerate(zip(sets[one["set"]], one["stars"], strict=True)):
            question = (item[1], item[0], item[2])
            has_picture = place in one.get("pictures", [])
            if shows.setdefault(question, has_picture) != has_picture:
                world.found("score_wrong", f"whether a question of {one['set']} has a picture changes")
            if item[1] in weights and not (is_text and has_picture):
                mine[question].append(star)
    printed = {(line["model"], line["style"]): line for line in lines}
    if (is_all and printed.keys() != stars.keys()) or len(printed) != len(lines):
        world.found("score_wrong", f"edition {edition['edition']} has scores for others than have sat it")
    for who, mine in stars.items():
        if who not in printed:
            continue
        line, reference = printed[who], edition["reference_model"]
        read = {
            question: [s for s in found if s != "x"]
            for question, found in stars.get((reference, who[1]), {}).items()
        }
        theirs = {question: found for question, found in read.items() if found and question in mine}
        common = theirs if who[0] == reference else {question: mine[question] for question in theirs}
        score = _weigh(weights, mine)
        top, base = _weigh(weights, common), _weigh(weights, theirs)
        expected = {
            "question_count": sum(map(len, mine.values())),
            "score": None if score is None else score / 3 * 100,
            "relative_score": None if top is None or not base else top / base * 100,
            "pair_count": sum(map(len, common.values())),
        }
        for field, value in expected.items():
            if not _agree(line[field], value):
                world.found("score_wrong", f"{field} of {who[0]} in {who[1]}: {line[field]}, not {value}")


def _agree(printed: Any, value: float | None) -> bool:
    if printed is None or value is None:
        return printed is None and value is None
    return isinstance(printed, int | float) and abs(printed - value) <= 1e-6


def _weigh(weights: Mapping[str, float], stars: Mapping[tuple[str, str, str], list[str]]) -> float | None:
    """The weighted mean over disciplines, in stars.

    It is taken of the means over questions of the means over sessions.
    """
    means: dict[str, list[float]] = defaultdict(list)
    for (discipline, _, _), found in stars.items():
        means[discipline].append(sum(int(star) if star.isdigit() else 0 for star in found) / len(found))
    if means.keys() != weights.keys():
        return None
    return sum(weights[discipline] * sum(found) / len(found) for discipline, found in means.items())


def _check_questions(world: World) -> None:
    banks = {commit["bank"]["root"] for _, commit in world.of("commit")}
    for number, body in world.of("question"):
        raw = world.read(f"questions/{body['file']}", body["sha256"])
        if raw is None:
            continue
        try:
            question = json.loads(raw)
            bank = read_bank(world, question["bank_root"]) if question["bank_root"] in banks else Bank()
            made = digest("proctor question", hexes(question["salt"]), question["content"]).hex()
            place, discipline, slots, slots_root = bank.rows[question["lineage"]]
            slot = digest("proctor slot", hexes(question["slot_salt"]), hexes(question["commitment"]))
            leaf = bank.leaf(question["lineage"])
            is_good = (
                made == question["commitment"] == body["commitment"]
                and (discipline, slots) == (question["discipline"], question["slots"])
                and climb(slot, question["slot"], slots, question["path"]) == slots_root
                and climb(leaf, place, len(bank.rows), question["lineage_path"]) == question["bank_root"]
                and _names_its_sets(world, number, question)
            )
        except (ValueError, KeyError, TypeError):
            is_good = False
        if not is_good:
            world.found("question_wrong", f"questions/{body['file']} is not what was committed to")
            continue
        for picture in _list_pictures(question["content"]):
            world.read(f"questions/{picture}.picture", picture)


def _list_pictures(content: str) -> list[str]:
    """The hashes of the pictures that a question shows."""
    told = json.loads(content)
    return [str(one["sha256"]) for one in told.get("pictures", [])] if isinstance(told, dict) else []


def _names_its_sets(world: World, number: int, question: Mapping[str, Any]) -> bool:
    """Whether the question's `sets` are all those that put the question.

    Only sets that are disclosed and were drawn before count.
    """
    named, disclosed, holding = set(question["sets"]), set(), set()
    for run in world.runs.values():
        for name, line in run.sets.items():
            disclosed.add(name)
            origin = world.runs.get(line["drawn_in"] or "")
            is_before = origin is None or not origin.draws or origin.draws[0][0] < number
            if is_before and any(item[2] == question["commitment"] for item in line["items"]):
                holding.add(name)
    return named & disclosed == holding


def _check_receipts(world: World, receipts: Sequence[Mapping[str, Any]]) -> None:
    for receipt in receipts:
        signed = {name: receipt.get(name) for name in ("answer_sha256", "entry", "head", "seq", "session_id")}
        who = f"session {receipt.get('session_id')}, question {receipt.get('seq')}"
        if not any(signed_by(public, receipt.get("signature"), signed) for _, public in world.keys.values()):
            world.found("receipt_wrong", f"{who}: no key of the log signed it")
            continue
        answers = world.answers.get(str(receipt["session_id"]))
        seq = receipt["seq"]
        if answers is not None and not (
            1 <= seq <= len(answers) and answers[seq - 1] == receipt["answer_sha256"]
        ):
            world.found("receipt_wrong", f"{who}: another answer is in the session")


def main() -> int:
    faults = verify(Path(sys.argv[1]))
    print("\n".join(faults) or "Everything that is disclosed holds.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
