"""A judge's planted biases: each found by its alarm where it was planted, nowhere else."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from deployments.model_server.judges import bend_stars, draw_stars
from deployments.model_server.profile import SimulatedModel, draw_index, draw_uniform
from schemas.tables import get_table
from tasks.judging.calibration.calibrate import compute_groups
from tests.warehouse.test_sql_cases import fill_rows

SIGN = "以上。"
COUNT = 1_200


def judge_all(seed: str = "pairs", **planted: Any) -> pl.DataFrame:
    """What `compute_groups` says of a judge with these biases, over lengths and families."""
    judge = SimulatedModel("judge", kind="judge", agreement=0.9, **planted)
    rows = []
    for number in range(COUNT):
        luck = (seed, number)
        truth = draw_index(4, *luck, "truth")
        is_own, is_long, is_first = (draw_uniform(*luck, what) < 0.5 for what in ("own", "long", "first"))
        response = (
            ("正确。" if is_first else "错误。") + "理" * (500 if is_long else 50) + (SIGN if is_own else "")
        )
        place = (seed, number)
        stars = bend_stars(judge, draw_stars(judge, truth, place), response, place, (SIGN,))
        rows.append(
            {
                "occasion": "first", "round": 1, "session_id": f"s{number}", "seq": 1, "judge": "judge", "prompt_version": "1",
                "judged_stars": stars, "agreed_stars": truth, "mean_stars": float(truth), "rater_count": 2,
                "is_own_family": is_own, "length_group": "long" if is_long else "short", "response_length": len(response),
                "option_place": "first" if is_first else "later", "model": "m",
            }
        )  # fmt: skip
    return compute_groups(fill_rows(get_table("calibration_pairs"), rows))


def find_biased(groups: pl.DataFrame) -> set[tuple[str, str]]:
    """Groups over all rounds whose interval of bias leaves out 0."""
    found = groups.filter(
        (pl.col("round") == 0)
        & ((pl.col("bias_low") > 0) | (pl.col("bias_high") < 0))
        & pl.col("group_kind").is_in(["family_of_judge", "response_length", "option_place"])
    )
    return set(found.select("group_kind", "group_name").iter_rows())


def test_a_judge_without_biases_has_none_but_for_the_errors_of_its_intervals() -> None:
    found = [find_biased(judge_all(f"seed {number}")) for number in range(12)]
    # Six groups, 95% intervals: 3.6 of 72 are expected to leave out 0.
    assert sum(map(len, found)) <= 9


@pytest.mark.parametrize(
    ("planted", "kind", "name"),
    [
        ({"family_bias": 0.25}, "family_of_judge", "own"),
        ({"length_bias": 0.25}, "response_length", "long"),
        ({"length_bias": -0.25}, "response_length", "long"),
        ({"position_bias": 0.25}, "option_place", "first"),
    ],
)
def test_a_planted_bias_is_found_in_its_group_and_not_in_the_other(
    planted: dict[str, float], kind: str, name: str
) -> None:
    groups = judge_all("seed 0", **planted)
    of_kind = {group for found, group in find_biased(groups) if found == kind}
    assert of_kind == {name}
    bias = groups.filter((pl.col("group_kind") == kind) & (pl.col("group_name") == name))["bias"][0]
    assert bias == pytest.approx(0.75 * next(iter(planted.values())), abs=0.06)


def test_drift_moves_every_group_alike() -> None:
    biased = find_biased(judge_all("seed 0", drift=0.2))
    assert {("family_of_judge", "own"), ("family_of_judge", "other")} <= biased
    assert {("response_length", "short"), ("response_length", "long")} <= biased


def test_switched_off_a_bias_changes_no_judgement() -> None:
    judge = SimulatedModel("judge", kind="judge")
    for stars in range(4):
        assert bend_stars(judge, stars, "正确。" + "理" * 900 + SIGN, ("s", stars), (SIGN,)) == stars
