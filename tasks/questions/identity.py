"""What makes two questions the same: their normalised content, and the ids computed from it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence

NAMESPACE = uuid.UUID("6f1c52b8-1a0e-5a55-9a52-0d7c1c8a4a10")
DOCUMENT_NAMESPACE = uuid.uuid5(NAMESPACE, "document")
QUESTION_NAMESPACE = uuid.uuid5(NAMESPACE, "question")

_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "＂": '"'}
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−－", "-"))
_STOPS = str.maketrans(
    {
        "。": ".",
        "、": ",",
        "【": "[",
        "】": "]",
        "〔": "(",
        "〕": ")",
        "《": "<",
        "》": ">",
        "〈": "<",
        "〉": ">",
    }
)


def normalise_for_key(text: str) -> str:
    """Fold a text for identity: NFKC, case, white space and punctuation variants. Never shown to anyone.

    Full- and half-width forms, quotes, dashes and stops fall together; white space and blanks (`____`,
    `（ ）`) are unified; a closing stop is dropped. Digits, letters, operators and the order of everything stay.
    """
    folded = _fold(text)
    for _ in range(3):
        # one folding can make what another changes again (case after composition, a stop before a space)
        again = _fold(folded)
        if again == folded:
            break
        folded = again
    return folded


def _fold(text: str) -> str:
    folded = re.sub(r"[\u200b-\u200f\u2060\ufeff\u00ad]", "", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    folded = folded.translate(_QUOTES).translate(_DASHES).translate(_STOPS)
    folded = re.sub(r"\s+", " ", folded)
    folded = re.sub(r"_{2,}|\( ?\)|\[ ?\]", "()", folded)
    # a space matters only between two words or numbers of the Latin script
    folded = re.sub(r"(?<![0-9a-z]) | (?![0-9a-z])", "", folded)
    return re.sub(r"[ .,;:!?]+$", "", folded)


def compute_document_id(sha256: str) -> str:
    """Return the UUIDv5 of a document from the SHA-256 of its bytes (hex)."""
    return str(uuid.uuid5(DOCUMENT_NAMESPACE, sha256))


def compute_question_uuid(
    question_type: str, stem: str, material: str | None, options: Sequence[Mapping[str, str]]
) -> str:
    """Return the UUIDv5 of a question's normalised content; answers and metadata play no part.

    Options count with label and text in the order given: the same stem with other options is another question.
    """
    parts = [question_type, normalise_for_key(stem), normalise_for_key(material or "")]
    parts += [f"{option['label']}={normalise_for_key(option['text'])}" for option in options]
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8")).hexdigest()
    return str(uuid.uuid5(QUESTION_NAMESPACE, digest))
