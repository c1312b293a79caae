"""What a dishonest operator can try, and which grade catches it.

Such a one holds ledger, files and every key. Each play is made in a published world that holds in itself afterwards as far as its operator can make it. Witnesses kept heads of the true
log by their own clocks while it went on. The table stands in docs/security.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from py_arkworks_bls12381 import G1Point, Scalar

from tasks.exam.public.verifier import GRADES, SIGNED_IN_G1, verify
from tests.tasks.exam.public.made import ROUND, Made, dump_lines, hash_bytes
from tests.tasks.exam.public.maker import Maker
from tests.tasks.exam.public.test_verifier_forgeries import find_candidate, publish_again

ROOT = Path(__file__).parents[4]
RUN = "2026-10"
EDITION = f"{RUN}/1"
BEFORE, AFTER = "2023-09-15T11:00:00+00:00", "2023-09-15T12:00:00+00:00"
World = tuple[Made, Maker]


@dataclass(frozen=True)
class Play:
    """One thing that an operator tries.

    Attributes:
        act: does it; returns when the witnesses had the head that covers the commitment, where the play changes that.
        caught: what anybody finds, what somebody with two witnesses' heads does, and what such a person sees where a round of drand is
            asked for besides: a statement of the verifier, `lower grade`, `note`, or `nothing`.
        about: what the page says besides.
        edition: the edition that is looked at.
        noted: what the note says; empty for any that is not there in the true world.
    """

    act: Callable[[World], str | None]
    caught: tuple[str, str, str]
    about: str
    edition: str
    noted: str


PLAYS: dict[str, Play] = {}


def play(
    name: str, *caught: str, about: str = "", edition: str = EDITION, noted: str = ""
) -> Callable[[Callable[[World], str | None]], Any]:
    def register(act: Callable[[World], str | None]) -> Callable[[World], str | None]:
        first, second, third = caught
        PLAYS[name] = Play(act, (first, second, third), about, edition, noted)
        return act

    return register


def find_commit(made: Made) -> dict[str, Any]:
    return [entry for entry in made.entries if entry["kind"] == "commit" and entry["body"]["run"] == RUN][-1]


@play("a session that went badly is left out of the edition", *["session_missing"] * 3)
def drop_a_session(world: World) -> None:
    made, _ = world
    made.edit_lines(f"editions/{RUN}-1/sessions.jsonl", lambda rows: rows.pop())
    made.seal_edition(EDITION)


@play(
    "the draw of a run that is not disclosed yet is thrown away for another, and the log written again",
    "nothing",
    "log_truncated",
    "log_truncated",
)
def draw_again(world: World) -> None:
    made, _ = world
    made.find("commit", run="2026-11")["share_commitment"] = "ab" * 32
    made.find("draw", run="2026-11")["seed_commitment"] = "cd" * 32


@play("stars are changed in the published file", *["judgements_wrong"] * 3)
def change_stars(world: World) -> None:
    made, _ = world
    made.edit_lines(
        f"editions/{RUN}-1/sessions.jsonl",
        lambda rows: rows[0].update(stars=rows[0]["stars"].translate(str.maketrans("012", "333"))),
    )
    made.rehash()


@play(
    "stars, scores, roots and log are written again after the publication",
    "nothing",
    "log_truncated",
    "log_truncated",
)
def rewrite_stars(world: World) -> None:
    _, maker = world
    one = find_candidate(maker)
    place = next(place for place, star in enumerate(one.stars) if star in "012")
    one.stars = f"{one.stars[:place]}3{one.stars[place + 1 :]}"
    publish_again(maker)


@play(
    "a log with another history is shown to others (split view), signed by the same key",
    "nothing",
    "log_truncated",
    "log_truncated",
)
def split_the_view(world: World) -> None:
    made, _ = world
    made.entries[1]["body"] = dict(made.entries[1]["body"], code_version="another")


@play("the end of the log is cut off with its heads", "nothing", "log_truncated", "log_truncated")
def cut_the_log(world: World) -> None:
    made, _ = world
    made.entries = made.entries[:-2]
    made.heads_at = [1, 40, len(made.entries)]


@play(
    "the seeds of many shares are tried before the commitment, and the one is taken that gives a favourite an easy set",
    "note",
    "note",
    "lower grade",
    about="Without a beacon the verifier notes that the operator alone chose the seed; no grade below the highest says more.",
    edition="2026-09/1",
    noted="Run 2026-09: the operator alone chose the seed",
)
def try_shares(world: World) -> None:
    """What stands in the log is one commitment and one draw: the others were tried at home."""


@play(
    "the commitment is made after the round was given out, and dated before it",
    "nothing",
    "nothing",
    "lower grade",
    about="The witnesses' own clocks say when they had it.",
)
def date_the_commitment_back(world: World) -> str:
    return AFTER


@play(
    "a draw that does not please is given up, and the run committed to again with another round",
    "note",
    "note",
    "lower grade",
    noted="was replaced after its round was given out",
    about="Both commitments stand in the log with the reason.",
)
def commit_until_it_pleases(world: World) -> str:
    made, _ = world
    first, second = (
        entry for entry in made.entries if entry["kind"] == "commit" and entry["body"]["run"] == RUN
    )
    first["body"]["beacon"] = dict(first["body"]["beacon"])
    second["at"] = "2023-09-15T10:30:00+00:00"
    first["body"]["beacon"]["round"] = ROUND["round"] - 1000
    first["body"]["beacon"]["source"] = f"drand quicknet, round {ROUND['round'] - 1000}"
    first["at"] = "2023-09-15T09:00:00+00:00"
    return BEFORE


@play(
    "a value is typed that its source never gave out",
    "note",
    "note",
    "lower grade",
    about="The verifier says that it was typed, and where to look it up.",
)
def type_a_value(world: World) -> None:
    made, _ = world
    for entry in made.entries:
        if entry["body"].get("run") == RUN and entry["kind"] in ("commit", "draw"):
            entry["body"]["beacon"] = {
                name: value for name, value in entry["body"]["beacon"].items() if name in ("source", "value")
            }


@play("a value is entered for a round of drand that drand did not give out", *["beacon_wrong"] * 3)
def forge_a_round(world: World) -> None:
    made, _ = world
    signed = G1Point.hash_to_curve(b"a value that pleases", SIGNED_IN_G1) * Scalar(7)
    signature = bytes(signed.to_compressed_bytes()).hex()
    made.find("draw", run=RUN)["beacon"].update(
        signature=signature, value=hash_bytes(bytes.fromhex(signature))
    )


@play("an entry is made later and dated back by weeks", "note", "note", "note")
def date_an_entry_back(world: World) -> None:
    made, _ = world
    made.entries[-1]["at"] = "2026-08-01T00:00:00.000000+00:00"


@play(
    "stars are changed before they are published",
    *["nothing"] * 3,
    about="Not to be caught from public files. `proctor exam audit` of the home that is shown names the reply or the landing "
    "(`stage_changed`, `landing_replaced`); judging again shows the rest.",
)
def change_stars_before(world: World) -> None:
    """Nothing published is written twice: to everybody the false stars are the first ones."""


def write_witnesses(made: Made, folder: Path, kept_at: str) -> list[Path]:
    """The files of two witnesses: a head of the commitment, and one of the whole log."""
    made.chain()
    commit, last = find_commit(made)["number"], len(made.entries)
    line = made.sign_head(commit) | {"kept_at": kept_at}
    files = [folder / name for name in ("one.jsonl", "two.jsonl")]
    for path in files:
        path.write_bytes(dump_lines([line, made.sign_head(last) | {"kept_at": "2026-11-01T00:00:00+00:00"}]))
    return files


# Where the witnesses' clocks or the log itself are other than in the true world, they saw what was played.
SEEN_BY_WITNESSES = frozenset(
    {
        "the commitment is made after the round was given out, and dated before it",
        "a draw that does not please is given up, and the run committed to again with another round",
        "the seeds of many shares are tried before the commitment, and the one is taken that gives a favourite an easy set",
        "a value is typed that its source never gave out",
        "a session that went badly is left out of the edition",
        "stars are changed in the published file",
        "a value is entered for a round of drand that drand did not give out",
        "an entry is made later and dated back by weeks",
        "stars are changed before they are published",
    }
)


def look(folder: Path, heads: list[Path], asked: str, one: Play, usual: set[str]) -> str:
    """What somebody finds who asks for a grade."""
    found = verify(str(folder), heads=[str(path) for path in heads])
    statements = {statement for statement, _ in found.faults}
    if statements:
        return " ".join(sorted(statements))
    if asked == GRADES[2] and found.grades[one.edition] != GRADES[2]:
        return "lower grade"
    notes = [note for note in found.notes if one.noted in note] if one.noted else set(found.notes) - usual
    return "note" if notes else "nothing"


@pytest.mark.parametrize("name", PLAYS)
def test_a_play_is_caught_by_the_grade_that_the_page_names(
    name: str, made_world: World, tmp_path: Path
) -> None:
    made, _ = made_world
    true = made.write(tmp_path / "true")
    heads = write_witnesses(made, tmp_path, BEFORE)
    usual = set(verify(str(true), heads=[str(path) for path in heads]).notes)
    usual |= set(verify(str(true)).notes)
    one = PLAYS[name]
    honest = Play(one.act, one.caught, "", EDITION, "")
    assert look(true, heads, GRADES[2], honest, usual) == "nothing"
    kept_at = one.act(made_world) or BEFORE
    played = made.write(tmp_path / "played")
    if name in SEEN_BY_WITNESSES:
        heads = write_witnesses(made, tmp_path, kept_at)
    found = tuple(
        look(played, given, asked, one, usual)
        for given, asked in (([], GRADES[0]), (heads, GRADES[1]), (heads, GRADES[2]))
    )
    for expected, seen in zip(one.caught, found, strict=True):
        assert expected in seen, (one.caught, found)


def render_plays() -> str:
    """The table of docs/security.md."""
    lines = ["| the operator … | self-attested | witnessed | witnessed + beacon |", "|---|---|---|---|"]
    for name, one in PLAYS.items():
        cells = [
            caught if caught in ("nothing", "note", "lower grade") else f"`{caught}`" for caught in one.caught
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_page_has_every_play_with_what_catches_it() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert render_plays() in page
    for one in PLAYS.values():
        assert " ".join(one.about.split()) in " ".join(page.split())
