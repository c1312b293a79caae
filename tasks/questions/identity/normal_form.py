"""What makes two questions the same: their normalised content, and the ids computed from it."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections.abc import Iterable

from schemas import patterns as re
from tasks.questions.question import BareQuestion

NAMESPACE = uuid.UUID("6f1c52b8-1a0e-5a55-9a52-0d7c1c8a4a10")
DOCUMENT_NAMESPACE = uuid.uuid5(NAMESPACE, "document")
QUESTION_NAMESPACE = uuid.uuid5(NAMESPACE, "question")
_QUESTION_NAMESPACE_BYTES = QUESTION_NAMESPACE.bytes

# Quotes, dashes and stops that papers write in several ways.
_SIGNS = str.maketrans(
    dict.fromkeys("“”「」『』＂", '"')
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("‐‑‒–—―−－", "-")
    | {"。": ".", "、": ",", "【": "[", "】": "]", "〔": "(", "〕": ")"}
    | {"《": "<", "》": ">", "〈": "<", "〉": ">"}
)
_UNSEEN = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_LINE = re.compile(r"_{2,}")
# A space matters only between two words or numbers of the Latin script.
_IDLE_SPACE = re.compile(r" (?:(?<![0-9a-z] )|(?![0-9a-z]))")
# What DuckDB's patterns call white space.
_NO_SPACES = dict.fromkeys(map(ord, "\t\n\f\r "))
CLOSING_STOPS = " .,;:!?"
WORD_LETTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")
# Folding can make what folding changes again: case after composition, a line out of single underscores.
_MOST_FOLDINGS = 4


class _JoinsItsNeighbour(ValueError):
    """A character whose normal form depends on the text around it."""


def normalise_for_key(text: str) -> str:
    """Fold a text for identity: NFKC, case, white space and punctuation variants.

    The result is never shown to anyone.

    Full- and half-width forms, quotes, dashes and stops fall together; white space and blanks (`____`,
    `（ ）`) are unified; a closing stop is dropped. Digits, letters, operators and the order of everything stay.
    """
    try:
        folded = _fold_shape(text.lower() if text.isascii() else text.translate(_LETTERS))
    except _JoinsItsNeighbour:
        return _fold_repeatedly(text)
    # Single underscores that a dropped space has brought together are the only thing that is not settled yet.
    return _fold_repeatedly(folded) if "__" in folded else folded


def fold_letter(code: int) -> str | None:
    """The normal form of one character by itself; None where it depends on the text around it."""
    try:
        return _LETTERS[code]
    except _JoinsItsNeighbour:
        return None


def name_passage(text: str | None) -> str | None:
    """What names a text that several questions ask about; null for none. As in `bank_index.sql`."""
    bare = (text or "").translate(_NO_SPACES)
    return hashlib.md5(bare.encode(), usedforsecurity=False).hexdigest() if bare else None


def compute_document_id(sha256: str) -> str:
    """Return the UUIDv5 of a document from the SHA-256 of its bytes (hex)."""
    return str(uuid.uuid5(DOCUMENT_NAMESPACE, sha256))


def compute_question_uuid(bare: BareQuestion) -> str:
    """Return the UUIDv5 of a question's normalised content.

    Language, answers and metadata play no part; pictures count by their bytes, those of an answer not.

    Options count with label and text in the order given: the same stem with other options is another question.
    """
    return compute_normal_uuid(
        bare.question_type,
        normalise_for_key(bare.stem),
        normalise_for_key(bare.material or ""),
        ((option.label, normalise_for_key(option.text)) for option in bare.options),
        [picture.sha256 for picture in bare.pictures],
    )


def compute_normal_uuid(
    question_type: str,
    stem: str,
    material: str,
    options: Iterable[tuple[str, str]],
    pictures: Iterable[str] = (),
) -> str:
    """The UUIDv5 of normal texts, options (label, text) and the SHA-256 of pictures in them."""
    parts = [question_type, stem, material, *(f"{label}={text}" for label, text in options)]
    parts += [f"picture={sha256}" for sha256 in pictures]
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8")).hexdigest()
    # What uuid.uuid5 computes, without its object: half of the time of a bank's variants.
    hashed = hashlib.sha1(_QUESTION_NAMESPACE_BYTES + digest.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(hashed[16], 16) & 3]
    return f"{hashed[:8]}-{hashed[8:12]}-5{hashed[13:16]}-{variant}{hashed[17:20]}-{hashed[20:32]}"


def fold_piece(text: str) -> str | None:
    """The normal form of a text that will stand inside a longer one, between other texts.

    Closing stops stay.

    None where the form depends on what stands around it; the longer text is then to be normalised as a whole.
    `join_pieces` puts pieces together.
    """
    try:
        folded = _fold_inside(text.lower() if text.isascii() else text.translate(_LETTERS))
    except _JoinsItsNeighbour:
        return None
    # A line of underscores could grow by its neighbours.
    return None if "_" in folded else folded


def join_pieces(first: str, second: str) -> str:
    """The normal form of two pieces with a space between; the last still has closing stops."""
    between = " " if first[-1:] in WORD_LETTERS and second[:1] in WORD_LETTERS else ""
    return f"{first}{between}{second}"


def close_pieces(text: str) -> str:
    """The normal form of a text whose pieces are joined."""
    return text.rstrip(CLOSING_STOPS)


class _Letters(dict[int, str]):
    """The normal form of each character, computed when it first occurs.

    Only for characters whose form is settled by themselves. An accent, a Hangul letter or a sign of an Indic script
    composes with what stands before it: it raises _JoinsItsNeighbour, and the text is normalised as a whole.
    """

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if _UNSEEN.match(letter):
            form = ""
        else:
            cased = unicodedata.normalize("NFKC", letter).casefold()
            form = unicodedata.normalize("NFKC", cased).translate(_SIGNS)
            if any(map(_may_join, letter + cased + form)) or _fold_letters(form) != form:
                raise _JoinsItsNeighbour
        self[code] = form
        return form


_LETTERS = _Letters()


def _may_join(letter: str) -> bool:
    """Whether a character's normal form may depend on its neighbours, or is not known."""
    code = ord(letter)
    if 0x1100 <= code < 0x1200 or 0x10000 <= code < 0x1D400 or code >= 0x40000:
        return True
    # Beside the character itself, what it begins with when it is taken apart.
    parts = unicodedata.normalize("NFKD", letter)
    return any(
        unicodedata.category(part).startswith("M") or 0x1100 <= ord(part) < 0x1200
        for part in (letter, parts[0])
    )


def _fold_repeatedly(text: str) -> str:
    folded = _fold_shape(_fold_letters(text))
    for _ in range(_MOST_FOLDINGS - 1):
        again = _fold_shape(_fold_letters(folded))
        if again == folded:
            break
        folded = again
    return folded


def _fold_letters(text: str) -> str:
    """Width, case and signs, of a text as a whole."""
    cased = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    return unicodedata.normalize("NFKC", cased).translate(_SIGNS)


def _fold_shape(text: str) -> str:
    """White space, blanks and closing stops of a text whose letters are folded."""
    return _fold_inside(text).rstrip(CLOSING_STOPS)


def _fold_inside(text: str) -> str:
    """White space and blanks of a text whose letters are folded."""
    text = " ".join(text.split())
    if "__" in text:
        text = _LINE.sub("()", text)
    if "[" in text:
        text = text.replace("[ ]", "()").replace("[]", "()")
    text = text.replace("( )", "()")
    if " " in text:
        text = _IDLE_SPACE.sub("", text)
    return text
