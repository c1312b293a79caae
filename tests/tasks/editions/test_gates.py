from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.editions.basis import Basis, read_basis
from tasks.editions.gates import (
    GATES,
    ShutGate,
    check_gates,
    check_overrides,
    find_provisional,
    find_shut_gates,
)
from tasks.editions.public_files import _describe_edition as describe_public
from tasks.editions.publish import Revision, publish_run
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import REFERENCE, build_season
from warehouse.lake import Lake, open_lake

JUNE, JULY = "run-2025-06", "run-2025-07"


@pytest.fixture(scope="module")
def basis(season_home: Path) -> Basis:
    """What the gates look at in June, read once: nothing in it changes."""
    with open_lake(Settings(home=season_home), read_only=True) as lake:
        return read_basis(lake.read, JUNE, EXAMINED_DISCIPLINES, least_ratings=100)


def shut(basis: Basis, settings: Settings) -> dict[str, str]:
    return {gate.gate: gate.finding for gate in find_shut_gates(basis, settings)}


def with_answers(basis: Basis, change: Mapping[str, pl.Expr]) -> Basis:
    return replace(basis, answers=basis.answers.with_columns(**change))


def test_a_whole_run_with_a_calibrated_judge_passes_every_gate(basis: Basis, settings: Settings) -> None:
    assert shut(basis, settings) == {}


def test_unjudged_sessions_shut_the_gate(basis: Basis, settings: Settings) -> None:
    sessions = basis.sessions.with_columns(
        is_complete=~pl.col("session_id").is_in([f"{JUNE}/east-7b/zero_shot/1", f"{JUNE}/north-1/few_shot/2"])
    )
    found = shut(replace(basis, sessions=sessions), settings)
    assert found["incomplete"].startswith("2 sessions are not wholly judged, of east-7b, north-1: ")


def test_unread_judgements_above_the_share_name_the_candidate_and_the_count(
    basis: Basis, settings: Settings
) -> None:
    of_one = (pl.col("model") == "east-7b") & (pl.col("seq") == 1)
    spoiled = with_answers(
        basis,
        {
            "stars": pl.when(of_one).then(None).otherwise("stars"),
            "score_status": pl.when(of_one).then(pl.lit("unparsed")).otherwise("score_status"),
        },
    )
    # 6 sessions of 40 questions: 6 of 240 answers.
    assert "east-7b 6 (2.5%)" in shut(spoiled, settings)["unparsed"]
    assert "unparsed" not in shut(basis, settings)


def test_sittings_of_the_reference_that_were_not_judged_shut_the_gate(
    season_home: Path, settings: Settings
) -> None:
    with open_lake(Settings(home=season_home), read_only=True) as lake:
        july = read_basis(lake.read, JULY, EXAMINED_DISCIPLINES)
    assert set(july.sessions.filter("is_borrowed")["model"]) == {REFERENCE}
    assert shut(july, settings) == {}
    late = replace(july, sessions=july.sessions.with_columns(is_complete=~pl.col("is_borrowed")))
    assert shut(late, settings)["reference"].startswith(
        f"6 sittings of {REFERENCE} in {JUNE} have answers without"
    )


def test_a_missing_discipline_shuts_the_gate_and_leaves_no_score(season: Lake, settings: Settings) -> None:
    wanted = (*EXAMINED_DISCIPLINES, "Philosophy")
    with pytest.raises(GateError, match="did not sit all of 11 disciplines"):
        publish_run(season, settings, JUNE, wanted)
    publish_run(
        season, settings, JUNE, wanted, Revision(reason="shown all the same", overridden=("discipline",))
    )
    board = season.run_named("leaderboard", {"month": "2025-06"})
    assert board["score"].null_count() == board.height == 6
    assert set(board["verdict"]) == {"no score: a discipline is missing"}


def test_a_discipline_that_has_pictures_alone_shuts_the_gate_where_they_do_not_count(
    basis: Basis, settings: Settings
) -> None:
    law = basis.answers.filter(pl.col("discipline") == "Law")["question_uuid"].cast(pl.String)
    # They were told in words what the pictures show, so that only questions without pictures are counted.
    assert "discipline" in shut(replace(basis, pictured=frozenset(law)), settings)
    assert "discipline" not in shut(replace(basis, pictured=frozenset(law[:1])), settings)


def test_a_judge_that_agrees_too_little_or_was_rated_too_little_shuts_the_gate(
    basis: Basis, settings: Settings
) -> None:
    def judged(**changes: Any) -> dict[str, str]:
        return shut(replace(basis, judges=(replace(basis.judges[0], **changes), *basis.judges[1:])), settings)

    assert judged(mean_kappa=0.79) == {"agreement": "mean kappa of judge-a is 0.790, below 0.80."}
    assert judged(rated_count=99) == {
        "ratings": "judge-a was compared with people on 99 responses, below 100."
    }
    # Before any calibration the edition is provisional, and no gate is shut.
    assert judged(mean_kappa=None, rated_count=None) == {}
    # A calibration that comes later is a change that a correction may rest on.
    assert replace(basis, judges=(replace(basis.judges[0], mean_kappa=0.91),)).hash() != basis.hash()


def test_an_edition_stays_provisional_while_its_judge_is_not_known_well_enough(
    basis: Basis, settings: Settings
) -> None:
    def why(**changes: Any) -> list[str]:
        judged = replace(basis.judges[0], **changes)
        return find_provisional(replace(basis, judges=(judged, *basis.judges[1:])), settings)

    assert why() == []
    # The gate looks at kappa itself, which is .90: what may be below the bar is its lower end.
    assert why(mean_kappa_low=0.79) == ["agreement"]
    assert why(mean_kappa_low=None) == ["agreement"]
    assert why(rated_count=99) == ["ratings"]
    assert why(mean_kappa=None, mean_kappa_low=None, rated_count=None) == ["uncalibrated"]


def test_the_lower_end_of_a_mean_kappa_follows_from_those_of_the_candidates(basis: Basis) -> None:
    (first, *_) = basis.judges
    # Six candidates, each with a kappa of .9 from .8 on: .1 · √6 / 6 below the mean (Zou and Donner 2008).
    assert first.mean_kappa == 0.9
    assert first.mean_kappa_low == pytest.approx(0.9 - 0.1 / 6**0.5, abs=1e-9)


def test_an_overridden_gate_leaves_the_edition_provisional_and_the_public_file_says_both(
    season: Lake, settings: Settings
) -> None:
    # A run planned over nine disciplines weighs nine, whatever is examined now.
    nine = EXAMINED_DISCIPLINES[:-1]
    strict = settings.model_copy(update={"judge_ratings_gate": 1000, "judge_agreement_gate": 0.95})
    forced = Revision(reason="the year must end", overridden=("agreement", "ratings"))
    edition = publish_run(season, strict, JUNE, nine, forced)
    head = edition.frames["editions"].row(0, named=True)
    assert (head["overridden_gates"], head["override_reason"]) == (
        ["agreement", "ratings"],
        "the year must end",
    )
    assert head["disciplines"] == list(nine)
    assert (head["is_provisional"], head["provisional_because"]) == (True, ["agreement", "ratings"])
    row = season.run_named("leaderboard", {"month": "2025-06"}).row(0, named=True)
    assert (row["overridden_gates"], row["provisional_because"]) == (
        ["agreement", "ratings"],
        ["agreement", "ratings"],
    )
    ninth = sum(float(str(row[name.lower().replace(" ", "_")])) for name in nine) / 9 * 10
    assert row["score"] == pytest.approx(ninth)
    said = describe_public(head, edition.frames["edition_scores"])
    assert (said["provisional"], said["overridden"], said["override_reason"]) == (
        ["agreement", "ratings"],
        ["agreement", "ratings"],
        "the year must end",
    )


def test_many_ratings_come_before_a_higher_kappa_on_few(season: Lake) -> None:
    few = (
        build_season()["calibration"]
        .head(1)
        .with_columns(
            judge=pl.lit("judge-b"),
            occasion=pl.lit("few"),
            model=pl.lit("only"),
            kappa=pl.lit(1.0),
            pair_count=pl.lit(3, dtype=pl.Int64),
        )
    )
    with season.transaction() as connection:
        connection.execute("DELETE FROM calibration WHERE judge = 'judge-b'")
    land_frames(season, {"calibration": few})
    chosen = read_basis(season.read, JUNE, EXAMINED_DISCIPLINES, least_ratings=100).judges
    assert [(one.judge, one.rated_count) for one in chosen] == [("judge-a", 240), ("judge-b", 3)]
    assert read_basis(season.read, JUNE, EXAMINED_DISCIPLINES).judges[0].judge == "judge-b"


def test_people_come_last_and_are_never_the_judge_of_a_run(season: Lake) -> None:
    judgements = build_season()["judgements"].filter(pl.col("judge") == "judge-a")
    land_frames(season, {"judgements": judgements.with_columns(judge=pl.lit("person:ann"))})
    assert [one.judge for one in read_basis(season.read, JUNE, EXAMINED_DISCIPLINES).judges] == [
        "judge-a",
        "judge-b",
        "person:ann",
    ]


def test_a_gate_is_overridden_by_name_with_a_reason() -> None:
    gates = [ShutGate("answered", "below 98.0% of the questions were answered by x 9 of 10 (90.0%)")]
    with pytest.raises(GateError) as refused:
        check_gates(gates, (), "2026-12")
    assert "answered: below 98.0%" in str(refused.value)
    assert "--override answered --reason TEXT" in str(refused.value)
    assert refused.value.exit_code == 3
    with pytest.raises(UsageError, match="--reason"):
        check_overrides(("answered",), "  ")
    with pytest.raises(UsageError, match=f"There is no gate all. The gates are {', '.join(GATES)}"):
        check_overrides(("all",), "because")
    check_overrides(("answered",), "because")
    check_gates(gates, ("answered",), "2026-12")


def test_answers_that_nobody_could_judge_are_never_published_above_the_share() -> None:
    answered = ShutGate("answered", "below 98.0% of the questions were answered by x 9 of 10 (90.0%)")
    unparsed = ShutGate("unparsed", "above 0.5% of the answers of x 9 (9.0%)")
    with pytest.raises(GateError, match=r"unparsed: above 0\.5%") as refused:
        check_gates([answered, unparsed], ("answered",), "2026-12")
    assert "--override" not in str(refused.value)
    with pytest.raises(UsageError, match="The gate unparsed is never overridden"):
        check_overrides(("answered", "unparsed"), "because")
    # No setting moves it beyond what the specification allows.
    with pytest.raises(ValueError, match=r"less than or equal to 0\.01"):
        Settings(unparsed_gate=0.02)


def test_an_unknown_gate_is_refused_of_a_published_run_too(published: Lake, settings: Settings) -> None:
    for asked in (Revision(reason="because", overridden=("all",)), Revision(overridden=("answered",))):
        with pytest.raises(UsageError, match=r"There is no gate all|add --reason"):
            publish_run(published, settings, JUNE, EXAMINED_DISCIPLINES, asked)


def test_what_shut_the_gates_is_frozen_and_shown_on_board_and_public_file_and_who_breaks_its_judges_ends_last(
    season: Lake, settings: Settings
) -> None:
    # Of one a tenth of the answers can be read, all of three stars; another gave four too few; the judge fails a control.
    game, lacking = "east-7b", "east-70b"
    is_read = pl.col("seq") <= 4
    frames = {
        name: frame.filter(run_id=JUNE) for name, frame in build_season().items() if "run_id" in frame.columns
    }
    controls = frames["judge_controls"].filter(judge="judge-a")
    session = f"{JUNE}/{lacking}/zero_shot/1"
    land_frames(
        season,
        {
            "judgements": frames["judgements"]
            .filter(model=game)
            .with_columns(
                stars=pl.when(is_read).then(pl.lit(3, dtype=pl.Int64)),
                parse_status=pl.when(is_read).then(pl.lit("parsed")).otherwise(pl.lit("unparsed")),
            ),
            "responses": frames["responses"].filter(pl.col("session_id") == session, pl.col("seq") > 4),
            "judge_controls": controls.with_columns(
                stars=pl.when(kind="nonsense").then(3).otherwise("stars").cast(pl.Int64)
            ),
        },
    )
    strict = settings.model_copy(update={"answered_gate": 1.0})
    with pytest.raises(GateError) as refused:
        publish_run(season, strict, JUNE, EXAMINED_DISCIPLINES)
    assert refused.value.exit_code == 3
    for told in (
        r"unparsed: above 0\.5% of the answers of east-7b 216 \(90\.0%\)",
        r"answered: below 100\.0% .* east-70b 236 of 240 \(98\.3%\)",
        r"judge_controls: judge-a gives reference answers 3\.00 stars",
    ):
        assert re.search(told, str(refused.value))
    forced = Revision(reason="the endpoint was gone", overridden=("answered", "judge_controls"))
    with pytest.raises(GateError, match="unparsed: above"):
        publish_run(season, strict, JUNE, EXAMINED_DISCIPLINES, forced)
    # Beyond what any setting allows: what the board makes of answers that nobody judged is still to be seen.
    lenient = strict.model_copy(update={"unparsed_gate": 1.0})
    edition = publish_run(season, lenient, JUNE, EXAMINED_DISCIPLINES, forced)
    head = edition.frames["editions"].row(0, named=True)
    assert (head["overridden_gates"], head["override_reason"]) == (
        ["answered", "judge_controls"],
        "the endpoint was gone",
    )
    assert (head["control_count"], head["control_wrong_count"], head["control_gap"]) == (56, 8, 0.0)
    assert (head["key_count"], head["key_disagreement_count"]) == (0, 0)
    said = describe_public(head, edition.frames["edition_scores"])
    assert said["controls"] == {"count": 56, "wrong": 8, "gap": 0.0}
    assert said["keys"] == {"count": 0, "disagreements": 0}
    assert said["overridden"] == head["overridden_gates"]
    board = season.run_named("leaderboard", {"month": "2025-06"})
    assert board.filter(model=lacking)["unanswered_count"].to_list() == [4]
    last = board.row(-1, named=True)
    assert last["overridden_gates"] == head["overridden_gates"]
    assert (last["control_count"], last["control_wrong_count"], last["control_gap"]) == (56, 8, 0.0)
    assert (last["model"], last["rank"], last["score"]) == (game, 6, pytest.approx(10.0))
    assert (last["question_count"], last["scored_count"], last["unparsed_count"]) == (80, 8, 72)
    assert last["rank_low"] == 6


def test_a_candidate_that_answered_too_few_of_its_questions_shuts_the_gate(
    basis: Basis, settings: Settings
) -> None:
    def without(share: int) -> Basis:
        """East-7b without answers to the first questions of every session of forty."""
        left_out = (pl.col("model") == "east-7b") & (pl.col("seq") <= share)
        return with_answers(
            basis,
            {
                "stars": pl.when(left_out).then(0).otherwise("stars"),
                "score_status": pl.when(left_out).then(pl.lit("unanswered")).otherwise("score_status"),
            },
        )

    found = shut(without(1), settings)["answered"]
    assert found.startswith("below 98.0% of the questions were answered by east-7b 234 of 240 (97.5%);")
    assert "answered" not in shut(without(1), settings.model_copy(update={"answered_gate": 0.975}))
    assert "answered" not in shut(basis, settings)


def test_every_candidate_that_answered_too_few_is_named_with_its_count(
    basis: Basis, settings: Settings
) -> None:
    nobody = with_answers(basis, {"stars": pl.lit(0), "score_status": pl.lit("unanswered")})
    found = shut(nobody, settings)["answered"]
    for model in sorted(set(basis.answers["model"]))[:5]:
        assert f"{model} 0 of " in found


def with_controls(basis: Basis, **stars: Sequence[int | None]) -> Basis:
    return replace(basis, controls={**basis.controls, **stars})


def test_a_judge_without_control_answers_publishes_nothing_and_the_command_that_asks_for_them_is_named(
    basis: Basis, settings: Settings
) -> None:
    assert {kind: len(given) for kind, given in basis.controls.items()} == {
        "reference": 20, "wrong_option": 12, "nonsense": 8, "other": 8, "echo": 8,
    }  # fmt: skip
    found = shut(replace(basis, controls={}), settings)
    assert found == {
        "judge_controls": f"judge-a (prompt v1) was given no control answers in this run. `proctor judge --run {JUNE}` asks for them "
        "(the setting judge_controls says how many)."
    }
    # A person is not tried.
    person = replace(basis.judges[0], judge="person:ann", mean_kappa=None, rated_count=None)
    assert shut(replace(basis, controls={}, judges=(person,)), settings) == {}


def test_control_answers_that_are_not_ordered_or_too_often_wrong_shut_the_gate(
    basis: Basis, settings: Settings
) -> None:
    unordered = shut(with_controls(basis, nonsense=[3] * 4 + [2] * 4, reference=[3, 2] * 10), settings)
    assert unordered["judge_controls"].startswith(
        "judge-a gives reference answers 2.50 stars on average, not more with certainty than: nonsense 2.50. Judge with another judge;"
    )
    wrong = shut(with_controls(basis, reference=[3] * 12 + [1] * 8), settings)
    assert wrong["judge_controls"].startswith(
        "judge-a judges 8 of 56 control answers wrong (14.3%, at least 7.4%; 5.0% may be)."
    )
    assert shut(with_controls(basis, reference=[*[3] * 17, 1, None, 2]), settings) == {}


def test_stars_against_the_keys_shut_the_gate_by_what_they_are_worth(
    basis: Basis, settings: Settings
) -> None:
    def keyed(keys: dict[str, tuple[int, int]], passages: dict[str, str] | None = None) -> dict[str, str]:
        return shut(replace(basis, keys=keys, passages=passages or {}), settings)

    spread = {f"q{number}": (1 if number < 30 else 0, 2) for number in range(50)}
    assert keyed(spread)["keys"].startswith(
        "judge-a says something else than the key on 30 of 100 answers that a key decides (30.0%, at least 2"
    )
    # As many on one text are one misunderstanding; below the bar, or without any, nothing is shown.
    at_once = {f"q{number}": (2 if number < 15 else 0, 2) for number in range(50)}
    assert "keys" in keyed(at_once)
    assert "keys" not in keyed(at_once, dict.fromkeys(list(at_once)[:15], "one text"))
    assert keyed({f"q{number}": (int(number < 5), 2) for number in range(50)}) == {}
    assert keyed({}) == {}


def test_keys_are_counted_by_question_of_the_first_judge_alone(season: Lake, settings: Settings) -> None:
    frames = build_season()
    judged = frames["judgements"].filter(pl.col("run_id") == JUNE)
    verdicts = judged.with_columns(key_verdict=pl.when(pl.col("attempt") > 0).then(pl.lit("right")))
    land_frames(season, {"judgements": verdicts})
    found = read_basis(season.read, JUNE, EXAMINED_DISCIPLINES, least_ratings=100)
    counted = verdicts.filter(
        (pl.col("judge") == "judge-a") & (pl.col("attempt") > 0) & pl.col("stars").is_not_null()
    )
    assert sum(total for _, total in found.keys.values()) == counted.height
    assert sum(apart for apart, _ in found.keys.values()) == counted.filter(pl.col("stars") < 2).height
    lineages = set(frames["allocations"]["lineage_uuid"])
    assert set(found.keys) <= lineages
    # They follow from judgements whose stars are in the hash; what follows from them is not counted twice.
    assert replace(found, keys={}).hash() == found.hash()


def test_an_edition_of_before_has_the_hash_that_it_had_and_control_answers_that_come_later_allow_a_correction(
    season: Lake, settings: Settings
) -> None:
    without = replace(read_basis(season.read, JUNE, EXAMINED_DISCIPLINES, least_ratings=100), controls={})
    again = with_controls(without, reference=[3] * 20)
    assert without.hash() != again.hash()
    season.land("judge_controls", f"{JUNE}/judge-a/v1", build_season()["judge_controls"].clear())
    forced = Revision(reason="as it is", overridden=("judge_controls",))
    edition = publish_run(season, settings, JUNE, EXAMINED_DISCIPLINES, forced)
    head = edition.frames["editions"].row(0, named=True)
    assert (head["basis_hash"], head["control_count"]) == (without.hash(), None)
    land_frames(season, {"judge_controls": build_season()["judge_controls"].filter(pl.col("run_id") == JUNE)})
    mended = publish_run(season, settings, JUNE, EXAMINED_DISCIPLINES, Revision(True, "it was tried since"))
    assert (mended.edition_id, mended.overridden) == (f"{JUNE}/2", ())
