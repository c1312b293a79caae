"""Semantic similarity: the cosine of two texts' embeddings (CG-Eval, section 3.3.2).

Long texts are encoded by sliding windows.

The paper names the model (BAAI/bge-large-zh-v1.5), the windows, and averaging or concatenation; it gives neither window
nor stride. Here a window is what the model accepts and the stride is half of it; both, with the pooling, the
precision and a hash of the weights, are part of the encoder's identity, which is stored with every score.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from schemas.errors import ProctorError, UsageError
from warehouse.stores.vectors import Embedding, EmbeddingCache, compute_embedding_key

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Pooling = Literal["mean", "concatenate"]

DEFAULT_MODEL = "BAAI/bge-large-zh-v1.5"
EMPTY_TEXT_NOTE = "one of the texts is empty: the similarity counts as 0"

_WEIGHT_SUFFIXES = (".safetensors", ".bin", ".model")
_SETTING_NAMES = frozenset(
    {
        "modules.json",
        "config.json",
        "config_sentence_transformers.json",
        "sentence_bert_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "vocab.txt",
    }
)
_WINDOWS_PER_CALL = 2_048
_TEXTS_PER_SPLIT = 512
_PAIRS_PER_READ = 2_000


class EmbeddingModelError(ProctorError):
    """The embedding model is not there, or is not one that can be used.

    Gscore is then null; its other parts are not.
    """


class SimilarityScores(NamedTuple):
    """Similarities of a batch of pairs."""

    values: npt.NDArray[np.float64]
    """Cosines; NaN where there is none."""

    notes: list[str | None]
    """Why a value is missing or special; None where it is an ordinary cosine."""


class Similarity(Protocol):
    """What `score_pairs` needs: an identity to store and the similarities of pairs."""

    @property
    def identity(self) -> str:
        """Return what the similarities depend on, in one line."""
        ...

    def score_similarity(self, references: Sequence[str], responses: Sequence[str]) -> SimilarityScores:
        """Return the similarity of every pair."""
        ...


@dataclass(frozen=True)
class Windows:
    """How a text that is longer than the model accepts is cut, and its parts are joined.

    Attributes:
        window: tokens of a window, without the special ones; null for all that the model accepts.
        stride: tokens from one window to the next; null for half a window.
        pooling: `mean` of the windows, or `concatenate`.
    """

    window: int | None = None
    stride: int | None = None
    pooling: Pooling = "mean"


def load_embedder(
    model: str | Path = DEFAULT_MODEL,
    windows: Windows | None = None,
    *,
    cache: Path | None = None,
    half_precision: bool | None = None,
) -> Embedder:
    """Load a sentence-transformers model by its name or from a folder.

    A model is looked up by its name in the local model cache.

    `half_precision` None means on a GPU only.
    Raises EmbeddingModelError when the model is missing or unusable, UsageError for impossible windows.
    """
    label, folder = _find_model(model)
    fingerprint = _compute_model_hash(folder)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    # Its own bar would tear the progress display of the command.
    transformers_logging.disable_progress_bar()
    try:
        # The folder is read as it is: nothing is fetched and no code in it is run.
        encoder = SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:  # whatever torch, transformers or the files themselves raise
        raise EmbeddingModelError(
            f"The embedding model {label} cannot be loaded ({type(error).__name__}: {error}). Check its folder, or fetch it again."
        ) from error
    if half_precision is None:
        half_precision = encoder.device.type == "cuda"
    if half_precision:
        encoder.half()
    return Embedder(
        encoder,
        f"{label}@{fingerprint}",
        windows=windows or Windows(),
        cache=cache,
        half_precision=half_precision,
    )


def find_embedding_model(model: str | Path) -> str:
    """Where a model lies on this machine, its name first; nothing is loaded or fetched.

    Raises EmbeddingModelError as `load_embedder` does.
    """
    label, folder = _find_model(model)
    return f"{label} in {folder}"


class Embedder:
    """A loaded model with its windows, pooling and cache. Make one with `load_embedder`."""

    def __init__(
        self,
        encoder: SentenceTransformer,
        model: str,
        *,
        windows: Windows,
        cache: Path | None,
        half_precision: bool,
    ) -> None:
        self._encoder = encoder
        tokenizer: Any = encoder.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise EmbeddingModelError(
                f"The embedding model {model} has no fast tokeniser, so windows cannot be cut by character. Add its tokenizer.json."
            )
        longest = (encoder.max_seq_length or 512) - tokenizer.num_special_tokens_to_add()
        self.window = longest if windows.window is None else windows.window
        self.stride = max(1, self.window // 2) if windows.stride is None else windows.stride
        if not 1 <= self.window <= longest:
            raise UsageError(f"A window of {self.window} tokens is impossible: {model} takes 1 to {longest}.")
        if not 1 <= self.stride <= self.window:
            raise UsageError(
                f"A stride of {self.stride} would skip text: use 1 to {self.window}, the window's length."
            )
        pooling = windows.pooling
        if pooling not in ("mean", "concatenate"):
            raise UsageError(f"There is no pooling {pooling!r}. Use mean or concatenate.")
        self.pooling: Pooling = pooling
        self._cache = EmbeddingCache(cache)
        precision = "float16" if half_precision else "float32"
        self._identity = f"{model} window={self.window} stride={self.stride} {pooling} {precision}"
        self.encoded_texts = 0
        """Texts sent to the model so far; those found in the cache are not among them."""

    @property
    def identity(self) -> str:
        """Return model name, hash of its weights, window, stride, pooling and precision."""
        return self._identity

    def score_similarity(self, references: Sequence[str], responses: Sequence[str]) -> SimilarityScores:
        """Return the cosine of every pair.

        An empty text has nothing to compare: 0. Concatenated texts in unequal numbers of windows have no cosine: NaN.
        """
        values = np.full(len(references), np.nan)
        notes: list[str | None] = [None] * len(references)
        scorable = [
            index
            for index in range(len(references))
            if references[index].strip() and responses[index].strip()
        ]
        for index in set(range(len(references))) - set(scorable):
            values[index], notes[index] = 0.0, EMPTY_TEXT_NOTE
        self.encode(text for index in scorable for text in (references[index], responses[index]))
        for start in range(0, len(scorable), _PAIRS_PER_READ):
            part = scorable[start : start + _PAIRS_PER_READ]
            texts = [references[index] for index in part] + [responses[index] for index in part]
            embeddings = self.read_embeddings(texts)
            for index in part:
                one, other = embeddings[references[index]], embeddings[responses[index]]
                if one.vector.shape != other.vector.shape:
                    notes[index] = (
                        f"the reference has {one.windows} windows and the response {other.windows}:"
                        " concatenated vectors of unequal length have no cosine"
                    )
                else:
                    cosine = float(np.dot(one.vector.astype(np.float64), other.vector.astype(np.float64)))
                    values[index] = min(1.0, max(-1.0, cosine))
        return SimilarityScores(values, notes)

    def stack_vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of texts, a row for each."""
        found = self.read_embeddings(texts)
        return np.stack([found[text].vector for text in texts])

    def read_embeddings(self, texts: Sequence[str]) -> dict[str, Embedding]:
        """Return the embedding of every text, encoding those that the cache does not have."""
        keys = {text: compute_embedding_key(self._identity, text) for text in texts}
        found = self._cache.read(keys.values())
        missing = [text for text, key in keys.items() if key not in found]
        if missing:
            found.update(self._encode_missing(missing))
        return {text: found[key] for text, key in keys.items()}

    def encode(self, texts: Iterable[str]) -> None:
        """Put the embeddings of `texts` into the cache, each text once."""
        keys = {text: compute_embedding_key(self._identity, text) for text in texts}
        known = self._cache.read_known(list(keys.values()))
        self._encode_missing([text for text, key in keys.items() if key not in known])

    def _encode_missing(self, texts: list[str]) -> dict[bytes, Embedding]:
        """Encode the texts in order of length, and cache each lot.

        In this order a batch wastes little on padding.
        """
        encoded: dict[bytes, Embedding] = {}
        lot: list[tuple[str, list[str]]] = []
        windows_in_lot = 0
        by_length = sorted(texts, key=len, reverse=True)
        for start in range(0, len(by_length), _TEXTS_PER_SPLIT):
            part = by_length[start : start + _TEXTS_PER_SPLIT]
            for text, windows in zip(part, self.split_windows(part), strict=True):
                lot.append((text, windows))
                windows_in_lot += len(windows)
                if windows_in_lot >= _WINDOWS_PER_CALL:
                    encoded.update(self._encode_lot(lot))
                    lot, windows_in_lot = [], 0
        encoded.update(self._encode_lot(lot))
        return encoded

    def _encode_lot(self, lot: list[tuple[str, list[str]]]) -> dict[bytes, Embedding]:
        if not lot:
            return {}
        windows = list(dict.fromkeys(window for _, parts in lot for window in parts))
        row_of = {window: row for row, window in enumerate(windows)}
        vectors = self._encoder.encode(windows, show_progress_bar=False, convert_to_numpy=True).astype(
            np.float32
        )
        embeddings = {}
        for text, parts in lot:
            rows = vectors[[row_of[window] for window in parts]]
            joined = rows.mean(axis=0) if self.pooling == "mean" else rows.reshape(-1)
            length = float(np.linalg.norm(joined))
            unit = (joined / length if length > 0 else joined).astype(np.float32)
            embeddings[compute_embedding_key(self._identity, text)] = Embedding(unit, len(parts))
        self.encoded_texts += len(lot)
        self._cache.write(embeddings)
        return embeddings

    def split_windows(self, texts: Sequence[str]) -> list[list[str]]:
        """Return each text's windows: pieces of the text itself, cut where its tokens begin and end.

        The tokeniser gets many texts at once: beside a GPU it would else take longer than the model.
        """
        # A token covers at least one byte, so a text of so few fits whatever the tokeniser does.
        long = [text for text in texts if len(text.encode("utf-8", "surrogatepass")) >= self.window]
        if not long:
            return [[text] for text in texts]
        tokenizer: Any = self._encoder.tokenizer
        tokens = tokenizer(
            long, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        windows = {
            text: self._cut(text, offsets)
            for text, offsets in zip(long, tokens["offset_mapping"], strict=True)
        }
        return [windows.get(text, [text]) for text in texts]

    def _cut(self, text: str, offsets: list[tuple[int, int]]) -> list[str]:
        if len(offsets) <= self.window:
            return [text]
        windows = []
        for start in range(0, len(offsets), self.stride):
            end = min(start + self.window, len(offsets))
            windows.append(text[offsets[start][0] : offsets[end - 1][1]])
            if end == len(offsets):
                break
        return windows

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()


def _find_model(model: str | Path) -> tuple[str, Path]:
    """Return the model's label and its folder.

    A folder is labelled with its name only, never with its place.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        label = folder.resolve().name
    elif isinstance(model, Path) or model.startswith((".", "/", "~")):
        raise EmbeddingModelError(
            f"There is no folder {folder.name!r} with an embedding model. Give the folder that holds its modules.json."
        )
    else:
        label, folder = model, _find_by_name(model)
    if not (folder / "modules.json").is_file():
        # Without it sentence-transformers would guess mean pooling, which is wrong for the bge models.
        raise EmbeddingModelError(
            f"The folder of the embedding model {label} has no modules.json, so its pooling is unknown. Give a complete sentence-transformers model."
        )
    return label, folder


def _find_by_name(name: str) -> Path:
    import huggingface_hub

    # Its warnings about a missing token or network would hide our one sentence.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        return Path(huggingface_hub.snapshot_download(name, local_files_only=True))
    except Exception as error:  # not found, no network, malformed name: all mean that there is no model
        raise EmbeddingModelError(
            f"The embedding model {name} is not on this machine ({type(error).__name__}). Fetch it once into the"
            " Hugging Face cache, or give a folder that holds it. Without it similarity and Gscore stay null."
        ) from error


def _compute_model_hash(folder: Path) -> str:
    """Return twelve hexadecimal digits that identify the model.

    They are a hash over the weights and the settings that change an embedding.
    """
    weights = {path for path in folder.rglob("*") if path.suffix in _WEIGHT_SUFFIXES and path.is_file()}
    # The same weights are often stored twice; sentence-transformers reads the safetensors file then.
    kept = {
        path
        for path in weights
        if path.suffix != ".bin" or not any(path.parent.glob("*.safetensors"))
        if not {"onnx", "openvino"} & set(path.relative_to(folder).parts)
    }
    settings = {path for path in folder.rglob("*.*") if path.name in _SETTING_NAMES}
    digest = hashlib.sha256()
    for path in sorted(kept | settings, key=lambda path: path.relative_to(folder).as_posix()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
