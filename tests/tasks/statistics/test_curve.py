from __future__ import annotations

import datetime as dt
import math

import pytest

from schemas.errors import UsageError
from tasks.statistics.curve import fit_curve

FIRST = dt.date(2024, 1, 1)


def test_a_line_is_found_again_with_its_slope_per_year() -> None:
    days = [FIRST + dt.timedelta(days=number * 73) for number in range(6)]
    scores = [50 + 12 * (day - FIRST).days / 365.25 for day in days]

    curve = fit_curve(days, scores)

    assert curve is not None
    assert (curve.kind, curve.origin, curve.point_count) == ("linear", FIRST, 6)
    assert curve.parameters == {"start": pytest.approx(50.0), "slope": pytest.approx(12.0)}
    assert curve.r_squared == pytest.approx(1.0)
    assert curve.score_on(dt.date(2025, 1, 1)) == pytest.approx(50 + 12 * 366 / 365.25)


def test_points_on_a_logistic_choose_the_logistic_and_find_its_parameters() -> None:
    days = [FIRST + dt.timedelta(days=number * 60) for number in range(15)]
    scores = [92 / (1 + math.exp(-((day - FIRST).days / 365.25 - 0.8) / 0.3)) for day in days]

    curve = fit_curve(days, scores)

    assert curve is not None
    assert curve.kind == "logistic"
    assert curve.parameters == {
        "top": pytest.approx(92, abs=0.01),
        "middle": pytest.approx(0.8, abs=0.001),
        "width": pytest.approx(0.3, abs=0.001),
    }


def test_few_points_are_fitted_by_a_line() -> None:
    curve = fit_curve(
        [FIRST, FIRST + dt.timedelta(days=365), FIRST + dt.timedelta(days=730)], [40.0, 80.0, 85.0]
    )

    assert curve is not None
    assert curve.kind == "linear"


def test_a_logistic_never_rises_above_a_hundred() -> None:
    days = [FIRST + dt.timedelta(days=number * 60) for number in range(8)]

    curve = fit_curve(days, [40.0, 55.0, 70.0, 82.0, 90.0, 96.0, 99.0, 100.0])

    assert curve is not None
    assert curve.kind == "logistic"
    assert curve.parameters["top"] <= 100
    assert curve.score_on(FIRST + dt.timedelta(days=36500)) <= 100


def test_one_release_day_has_no_curve() -> None:
    assert fit_curve([], []) is None
    assert fit_curve([FIRST, FIRST], [50.0, 60.0]) is None


def test_a_date_without_a_score_is_refused() -> None:
    with pytest.raises(UsageError, match="one score per date"):
        fit_curve([FIRST], [])
