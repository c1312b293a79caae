from __future__ import annotations

import polars as pl

from tasks.review.sample import draw_review_sample


def test_a_sample_of_model_written_variants_is_repeatable_and_leaves_templates_out() -> None:
    variants = pl.DataFrame(
        {
            "question_uuid": [f"{number:03}" for number in range(100)],
            "generator": ["template" if number % 2 else "writer" for number in range(100)],
        }
    )
    sample = draw_review_sample(variants, 0.1, "b1")
    assert sample.height == 5
    assert set(sample["generator"]) == {"writer"}
    assert sample.equals(draw_review_sample(variants.reverse(), 0.1, "b1"))
    assert not sample.equals(draw_review_sample(variants, 0.1, "b2"))
    assert draw_review_sample(variants, 0, "b1").is_empty()
    assert draw_review_sample(variants.head(3), 0.05, "b1").height == 1
