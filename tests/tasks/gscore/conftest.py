from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

VOCABULARY = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model of 30,000 random weights.

    It takes 30 tokens at most, with one token per known character.
    """
    folder = tmp_path_factory.mktemp("models") / "tiny-zh"
    build_tiny_model(folder, seed=1)
    return folder


def build_tiny_model(folder: Path, seed: int) -> None:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    plain = folder.with_name(folder.name + "-plain")
    plain.mkdir(parents=True)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *VOCABULARY,
        *"abcdefghij0123456789",
        "cat",
        "mat",
        "##s",
    ]
    (plain / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(plain / "vocab.txt"), model_max_length=32).save_pretrained(plain)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        initializer_range=0.5,  # the usual 0.02 gives all texts nearly the same vector
    )
    BertModel(config).save_pretrained(plain)
    transformer = Transformer(str(plain), max_seq_length=32)
    SentenceTransformer(modules=[transformer, Pooling(32, "cls"), Normalize()]).save(str(folder))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the real data in {folder.name}/ beside the checkout (or PROCTOR_SHARED_DATA)")
    return folder


@pytest.fixture
def pairs_file(tmp_path: Path) -> Callable[[int, str], Path]:
    """Writes a file of so many pairs in the format of the suffix."""

    def write(count: int, suffix: str) -> Path:
        draw = random.Random(count)
        references = ["".join(draw.choices(VOCABULARY, k=draw.randrange(0, 60))) for _ in range(count)]
        frame = pl.DataFrame(
            {
                "question": [f"q{number}" for number in range(count)],
                "reference": references,
                "response": [text[draw.randrange(0, 9) :] + "，\n“用”" for text in references],
                "mark": [number / 2 for number in range(count)],
            }
        )
        path = tmp_path / f"pairs.{suffix}"
        writers: dict[str, Callable[[Path], object]] = {
            "csv": frame.write_csv,
            "jsonl": frame.write_ndjson,
            "parquet": frame.write_parquet,
        }
        writers[suffix](path)
        return path

    return write
