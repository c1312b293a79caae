"""The sessions of a sample run and its edition.

Scores are computed as sums over rows, not in the way the verifier counts them.
"""

from __future__ import annotations

import hashlib
import json
import random
from itertools import count
from typing import Any

from tasks.exam.public import compute_root, digest
from tests.second_verifier.sample_folder import Folder, Item, Lie, dump, dump_lines

WEIGHTS = {"cs": 0.75, "physics": 0.25}
STYLE = "zero_shot"
REFERENCE = "steady-1"


def sit(
    folder: Folder,
    chance: random.Random,
    lie: Lie,
    run: str,
    sets: dict[str, list[Item]],
    orders: list[dict[str, Any]],
    at: str,
) -> list[dict[str, Any]]:
    """Sessions with their answers.

    The first question of each is not answered, and one judgement in ten is not read.
    """
    printed = []
    for line, numbers in zip(orders, count(1), strict=False):
        session, order = line["session"], line["order"]
        folder.add("open", {"run": run, "session": session}, at)
        texts = [
            None if seq == 1 else hashlib.sha256(f"{session} {seq}".encode()).hexdigest()
            for seq in range(1, 9)
        ]
        root = compute_root(
            [digest("proctor answer", session, s, bytes.fromhex(t)) for s, t in enumerate(texts, 1) if t]
        )
        folder.add(
            "close",
            {
                "run": run,
                "session": session,
                "question_count": 8,
                "answer_count": 7,
                "answers_root": root.hex(),
                "reason": None,
            },
            at,
        )
        fields = {
            "session_id": session,
            "seq": 2,
            "answer_sha256": texts[1],
            "entry": 40 + numbers,
            "head": "ab" * 32,
        }
        folder.receipts.append(fields | {"signature": folder.sign(fields)})
        stars = [
            "u" if texts[order.index(place)] is None else chance.choice("0123312x23") for place in range(8)
        ]
        printed.append(
            {"session": session, "sat_in_run": run, "set": line["set"], "model": line["model"], "organisation": line["organisation"],
             "style": STYLE, "repeat": 1, "is_reference": line["is_reference"], "is_complete": True, "stars": "".join(stars), "answers": texts}
        )  # fmt: skip
    return [one for one in printed if one["session"] != lie.left_out]


def publish(
    folder: Folder,
    lie: Lie,
    run: str,
    month: str,
    sets: dict[str, list[Item]],
    sessions: list[dict[str, Any]],
) -> None:
    leaves = []
    for one in sessions:
        texts = [(s, t) for s, t in enumerate(one["answers"], 1) if t]
        root = compute_root([digest("proctor answer", one["session"], s, bytes.fromhex(t)) for s, t in texts])
        leaves.append(digest("proctor session answers", one["session"], root))
    body: dict[str, Any] = {
        "edition": f"{run}/{lie.revision}", "run": run, "revision": lie.revision, "replaces": None, "reason": None, "overridden": [],
        "override_reason": None, "answers_root": compute_root(leaves).hex(),
        "judgements_root": compute_root([digest("proctor judgements", s["session"], s["stars"]) for s in sessions]).hex(),
    }  # fmt: skip
    models = sorted({one["model"] for one in sessions})
    extra: dict[str, Any] = {}
    if lie.pictures is not None:
        # One question of each discipline of a set shows a picture; the last candidate did not see it.
        shown = {
            item[0]: place % 4 == 1
            for items in sets.values()
            for place, item in enumerate(sorted(items, key=lambda item: str(item[0])))
        }
        sessions = [
            one | {"pictures": [place for place, item in enumerate(sets[one["set"]]) if shown[item[0]]]}
            for one in sessions
        ]
        text = _leave_out(sets, sessions)
        seen = [one for one in sessions if one["model"] != models[-1]]
        extra = {
            "picture_scope": "text_only",
            "series": [
                *({"series": "text_only"} | _score(model, *text, lie) for model in models),
                *({"series": "pictures"} | _score(model, sets, seen, lie) for model in models[:-1]),
                {"series": "alt_text"}
                | _score(models[-1], sets, [one for one in sessions if one["model"] == models[-1]], lie),
            ],
        }
        if lie.pictures == "mixed":
            extra["picture_scope"] = "pictures"
        if lie.pictures == "moved":
            sessions[0] = sessions[0] | {"pictures": sessions[0]["pictures"][1:]}
        if lie.pictures == "unsaid":
            extra = {}
    counted = _leave_out(sets, sessions) if extra.get("picture_scope") == "text_only" else (sets, sessions)
    scores = [_score(model, *counted, lie) for model in models]
    if lie.score is not None:
        scores[0]["score"] = lie.score
    edition = {
        "edition": body["edition"], "run": run, "revision": lie.revision, "month": month, "published_at": f"{month}-28T00:00:00Z",
        "reference_model": REFERENCE, "judge": "strict-1", "weights": lie.weights or WEIGHTS, "scores": scores, **extra,
    }  # fmt: skip
    if lie.stars is not None:
        sessions = [sessions[0] | {"stars": lie.stars}, *sessions[1:]]
    raws = {"edition.json": dump(edition), "sessions.jsonl": dump_lines(sessions)}
    files = {name: folder.write(f"editions/{run}-{lie.revision}/{name}", raw) for name, raw in raws.items()}
    folder.add("edition", body | {"files": files}, f"{month}-28T00:00:00Z")


def erase(folder: Folder, lie: Lie, first: str, second: str) -> None:
    """Erase the texts of sessions in two runs.

    In the first run, the texts of one session are erased, then those of all others; in the second run, those of one
    session.
    """
    closed: dict[str, list[dict[str, Any]]] = {first: [], second: []}
    for line in folder.lines:
        entry = json.loads(line)
        if entry["kind"] == "close" and entry["body"]["answer_count"]:
            closed[entry["body"]["run"]].append(entry["body"])
    for own in closed.values():
        own.sort(key=lambda body: str(body["session"]))
    for run, own, is_all in (
        (first, closed[first][:1], False),
        (first, closed[first][0 if lie.erased_twice else 1 :], not lie.erased_twice),
        (second, closed[second][-1:], False),
    ):
        leaves = [
            digest("proctor session answers", body["session"], bytes.fromhex(body["answers_root"]))
            for body in own
        ]
        folder.add(
            "erasure",
            {
                "run": run,
                "cause": "policy" if is_all else "withdrawal",
                "sessions": None if is_all else [body["session"] for body in own],
                "session_count": len(own),
                "answer_count": sum(body["answer_count"] for body in own) + lie.erased_more,
                "answers_root": lie.erased_root or compute_root(leaves).hex(),
            },
        )


def _leave_out(
    sets: dict[str, list[Item]], sessions: list[dict[str, Any]]
) -> tuple[dict[str, list[Item]], list[dict[str, Any]]]:
    """Sets and sessions without the questions that show a picture."""
    shown = {one["set"]: set(one["pictures"]) for one in sessions}
    kept = [
        one | {"stars": "".join(s for place, s in enumerate(one["stars"]) if place not in shown[one["set"]])}
        for one in sessions
    ]
    return {
        name: [item for place, item in enumerate(items) if place not in shown.get(name, ())]
        for name, items in sets.items()
    }, kept


def _score(
    model: str, sets: dict[str, list[Item]], sessions: list[dict[str, Any]], lie: Lie
) -> dict[str, Any]:
    """S and R of a model that sits one set, and of the reference, which sits all sets.

    They are computed in sums over rows of stars.
    """
    weights = lie.weights or WEIGHTS
    rows = [
        (one["model"], i[1], i[0], star)
        for one in sessions
        for i, star in zip(sets[one["set"]], one["stars"], strict=True)
    ]
    own = [row for row in rows if row[0] == model]
    theirs = {row[2]: row[3] for row in rows if row[0] == REFERENCE and row[3] != "x"}
    pairs = [(row[1], row[3], theirs[row[2]]) for row in own if row[2] in theirs]

    def mean(values: list[str]) -> float:
        return sum(int(v) if v in "0123" else 0 for v in values) / len(values)

    s = sum(w * mean([r[3] for r in own if r[1] == d]) for d, w in weights.items())
    r = None
    if all(any(p[0] == d for p in pairs) for d in weights):
        top, base = (
            sum(w * mean([p[k] for p in pairs if p[0] == d]) for d, w in weights.items()) for k in (1, 2)
        )
        r = top / base * 100
    return {
        "model": model, "style": STYLE, "question_count": len(own), "score": s / 3 * 100, "relative_score": r, "pair_count": len(pairs),
    }  # fmt: skip
