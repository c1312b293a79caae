from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from schemas.errors import ContractError, UsageError
from tasks.gscore.metrics import METRICS
from tasks.gscore.metrics.batch import score_surface
from tasks.gscore.metrics.pairs import (
    NO_MODEL_NOTE,
    NO_REFERENCE_NOTE,
    NO_RESPONSE_NOTE,
    SCORE_COLUMNS,
    score_pairs,
    score_pairs_with_references,
)
from tasks.gscore.metrics.similarity import SimilarityScores

SURFACE = ["bleu4", "rouge2", "chrf"]


class Agreeing:
    """A similarity with known values: the share of the longer text that the shorter is long."""

    identity = "lengths"

    def score_similarity(self, references: Sequence[str], responses: Sequence[str]) -> SimilarityScores:
        pairs = zip(references, responses, strict=True)
        values = [min(len(a), len(b)) / max(len(a), len(b), 1) for a, b in pairs]
        return SimilarityScores(np.array(values), [None] * len(values))


def test_pairs_keep_their_order_and_columns_and_get_the_scores() -> None:
    pairs = pl.DataFrame(
        {"id": [3, 1, 2], "reference": ["甲乙丙", "abc", ""], "response": ["甲乙丁", "", "x"]}
    )
    scored = score_pairs(pairs, "standard")

    assert scored.columns == ["id", "reference", "response", *SCORE_COLUMNS]
    assert {name: scored.schema[name] for name in SCORE_COLUMNS} == SCORE_COLUMNS
    assert_frame_equal(scored.select(pairs.columns), pairs)
    surface = score_surface(pairs["reference"].to_list(), pairs["response"].to_list(), "standard")
    assert_frame_equal(scored.select(SURFACE), pl.DataFrame(surface._asdict()))


def test_without_a_model_similarity_and_gscore_are_null_and_the_rest_is_there() -> None:
    row = score_pairs(pl.DataFrame({"reference": ["甲乙丙丁"], "response": ["甲乙丙丁"]})).row(0, named=True)
    assert [row[name] for name in SURFACE] == pytest.approx([1.0, 1.0, 1.0 - 2 / 6 + 2e-16 / 6], abs=1e-9)
    assert (row["similarity"], row["gscore"], row["similarity_model"]) == (None, None, None)
    assert row["similarity_note"] == NO_MODEL_NOTE


def test_an_absent_text_is_not_scored_while_an_empty_one_is() -> None:
    pairs = pl.DataFrame({"reference": ["甲乙", None, "甲乙"], "response": ["", "甲乙", None]})
    scored = score_pairs(pairs, "cgeval-paper", Agreeing())
    numbers = scored.select(*SURFACE, "similarity", "gscore").rows()
    assert numbers[0] == pytest.approx((0, 0, 0, 0, 0), abs=1e-15)
    assert numbers[1:] == [(None,) * 5, (None,) * 5]
    assert scored["similarity_note"].to_list() == [None, NO_REFERENCE_NOTE, NO_RESPONSE_NOTE]


def test_frames_without_the_columns_or_with_the_scores_already_are_refused() -> None:
    with pytest.raises(ContractError, match="no column 'response'"):
        score_pairs(pl.DataFrame({"reference": ["a"]}))
    with pytest.raises(ContractError, match="'response' of the pairs to score is Int64"):
        score_pairs(pl.DataFrame({"reference": ["a"], "response": [1]}))
    with pytest.raises(ContractError, match="already have columns named gscore"):
        score_pairs(pl.DataFrame({"reference": ["a"], "response": ["b"], "gscore": [1.0]}))


def test_several_references_count_as_the_best_or_as_their_mean() -> None:
    pairs = pl.DataFrame(
        {
            "id": [1, 2],
            "references": [["甲乙丙丁", "春夏秋冬", None], ["东南西北"]],
            "response": ["春夏秋冬天"] * 2,
        }
    )
    single = {
        text: score_pairs(
            pl.DataFrame({"reference": [text], "response": ["春夏秋冬天"]}), "standard", Agreeing()
        )
        for text in ("甲乙丙丁", "春夏秋冬", "东南西北")
    }
    best = score_pairs_with_references(pairs, "best", "standard", Agreeing())
    mean = score_pairs_with_references(pairs, "mean", "standard", Agreeing())

    assert best["reference_count"].to_list() == [2, 1]
    assert_frame_equal(best[:1].select(*SCORE_COLUMNS), single["春夏秋冬"].select(*SCORE_COLUMNS))
    assert_frame_equal(best[1:].select(*SCORE_COLUMNS), single["东南西北"].select(*SCORE_COLUMNS))
    both = pl.concat([single["甲乙丙丁"], single["春夏秋冬"]])
    for name in (*SURFACE, "similarity", "gscore"):
        assert mean[name][0] == pytest.approx(both[name].mean())


def test_without_similarity_the_best_reference_is_best_in_the_other_three() -> None:
    pairs = pl.DataFrame({"references": [["春夏", "春夏秋冬", "甲乙"]], "response": ["春夏秋冬"]})
    best = score_pairs_with_references(pairs, "best", "standard").row(0, named=True)
    assert [best[name] for name in SURFACE] == pytest.approx([1.0, 1.0, 1.0])


def test_an_unknown_way_to_join_references_is_refused() -> None:
    with pytest.raises(UsageError, match="Use best or mean"):
        score_pairs_with_references(pl.DataFrame({"references": [["a"]], "response": ["a"]}), "worst")  # type: ignore[arg-type]


class Mine:
    """Another package's metric that breaks a rule."""

    columns, identity = ("mine",), "mine 1"

    def __init__(self, score: Any) -> None:
        self._score = score

    def score(self, references: Sequence[str], responses: Sequence[str], profile: object) -> Any:
        return self._score(references)


def quote(texts: Sequence[str]) -> Any:
    raise KeyError(texts[0])


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (quote, "failed with KeyError"),
        (lambda texts: None, "failed with AttributeError"),
        (lambda texts: {"mine": ["x" for _ in texts]}, "failed with ValueError"),
        (lambda texts: {"mine": np.full(len(texts), np.inf)}, "gave an infinite score in mine"),
    ],
)
def test_a_metric_that_breaks_a_rule_is_named_without_its_words(
    monkeypatch: pytest.MonkeyPatch, score: Any, said: str
) -> None:
    monkeypatch.setitem(METRICS.own, "mine", "my_package:MINE")
    monkeypatch.setitem(METRICS._loaded, "mine", Mine(score))
    pairs = pl.DataFrame({"reference": ["a text"], "response": ["another"]})
    with pytest.raises(UsageError, match=f"The metric 'mine' of proctor {said}") as caught:
        score_pairs(pairs, metrics=["mine"])
    assert "a text" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_a_metric_says_in_our_own_errors_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(texts: Sequence[str]) -> Any:
        raise UsageError("Its weights are not here: install them.")

    monkeypatch.setitem(METRICS.own, "mine", "my_package:MINE")
    monkeypatch.setitem(METRICS._loaded, "mine", Mine(refuse))
    with pytest.raises(UsageError, match="Its weights are not here"):
        score_pairs(pl.DataFrame({"reference": ["a"], "response": ["b"]}), metrics=["mine"])
