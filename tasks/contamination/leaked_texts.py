"""Questions of the bank that a leaked text holds: word for word, nearly so, or reworded.

Texts are compared in the normal form in which duplicates are found. A piece of the text is compared with every question by
the share of the question's character 3-grams that it holds, rare ones weighing more (their inverse document frequency).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from schemas import patterns as re
from tasks.bank.dedupe import fold_traditional_codes
from tasks.questions.identity import normalise_column

EXACT: Final = "exact"
NEAR: Final = "near"
REWORDED: Final = "reworded"
# Weighted share of the question's grams that a piece holds.
NEAR_SHARE: Final = 0.8
REWORDED_SHARE: Final = 0.35
# A reworded question must be this much better than the next lineage's, and its piece must not be mostly of something else.
_MARGIN: Final = 0.1
_LEAST_DICE: Final = 0.25
_LEAST_DICE_ALONE: Final = 0.6
# A variant is named where it is this much more like than the others of its lineage (by share and Dice together).
_VARIANT_MARGIN: Final = 0.02
# Normal forms that are shorter say too little to be found by.
_LEAST_LETTERS: Final = 8
_LEAST_STEM: Final = 12
_GRAM: Final = 3
_QUESTIONS_AT_ONCE: Final = 50_000
# A new question begins after an empty line, or with its number.
_BREAK: Final = re.compile(r"\n\s*\n|\n(?=\s*[（(【]?\d{1,4}\s*[.、．)）】:：])")
_NUMBER: Final = re.compile(r"^\s*[（(【]?\d{1,4}\s*[.、．)）】:：]\s*")

# Labels of options stand between texts that the bank holds apart.
_LABEL: Final = re.compile(r"(?:(?<=\s)|^)[（(]?[A-H]\s*[.、．)）:：]\s*", re.MULTILINE)


@dataclass(frozen=True)
class Match:
    """A question that a piece of the text holds.

    Attributes:
        piece: place of the piece, from 0.
        lineage_uuid: whose question it is.
        question_uuid: which variant; null where several of the lineage are as like, or it is reworded.
        method: exact, near or reworded.
        share: weighted share of the question's grams that the piece holds.
    """

    piece: int
    lineage_uuid: str
    question_uuid: str | None
    method: str
    share: float


def split_text(text: str) -> list[str]:
    """A text's pieces, between empty lines or from a number on, without that number."""
    return [piece for part in _BREAK.split("\n" + text) if (piece := _NUMBER.sub("", part.strip())).strip()]


def find_questions(pieces: list[str], bank: pl.DataFrame) -> list[Match]:
    """Every lineage that a piece holds, at most once: where it is found best.

    `bank` has question_uuid, lineage_uuid, stem, material and options. Of reworded questions a piece has one at most; word for word
    it may hold several, as a text without empty lines does.
    """
    forms = normalise_column(
        pl.Series([_LABEL.sub("", piece).replace("\0", "") for piece in pieces], dtype=pl.String),
        fold_traditional_codes,
    )
    if not len(forms) or bank.is_empty():
        return []
    held = [_hash(form) for form in forms.to_list()]
    names = np.unique(np.concatenate(held))
    counts = np.zeros(len(names))
    texts, owners = _normalise_bank(bank)
    parts = [
        _compare(texts[start : start + _QUESTIONS_AT_ONCE], names, counts)
        for start in range(0, len(texts), _QUESTIONS_AT_ONCE)
    ]
    weights = np.log((1.0 + len(texts)) / (1.0 + counts)) + 0.01
    default = float(np.log(1.0 + len(texts))) + 0.01
    columns = sparse.csr_matrix(
        (
            np.ones(sum(map(len, held))),
            (
                np.concatenate([np.searchsorted(names, grams) for grams in held]),
                np.repeat(np.arange(len(held)), [len(grams) for grams in held]),
            ),
        ),
        shape=(len(names), len(held)),
    )
    shared = sparse.vstack([part for part, _ in parts]).tocsr() @ sparse.diags(weights)
    unseen = np.concatenate([missing for _, missing in parts])
    whole = np.asarray(shared.sum(axis=1)).ravel() + unseen * default
    sizes = np.asarray((sparse.diags(weights) @ columns).sum(axis=0)).ravel()
    overlaps = (shared @ columns).tocoo()
    shares = overlaps.data / np.maximum(whole[overlaps.row], 1e-9)
    dices = 2 * overlaps.data / np.maximum(whole[overlaps.row] + sizes[overlaps.col], 1e-9)
    kept = (shares >= REWORDED_SHARE) & ((shares >= NEAR_SHARE) | (dices >= _LEAST_DICE))
    found = pl.DataFrame(
        {"row": overlaps.row[kept], "piece": overlaps.col[kept], "share": shares[kept], "dice": dices[kept]},
        schema={"row": pl.Int64, "piece": pl.Int64, "share": pl.Float64, "dice": pl.Float64},
    )
    return _choose(
        found.with_columns(is_alone=pl.col("row") >= bank.height), texts, forms.to_list(), bank[owners]
    )


def _normalise_bank(bank: pl.DataFrame) -> tuple[list[str], list[int]]:
    """The normal forms of what each question shows, and the row that each form belongs to.

    Each question gives one normal form of all that it shows (material, stem and options), then one of
    material and stem alone. Alone they are looked for where they are long enough, and no other lineage has
    the same: many choices ask "which is right".
    """
    asked = pl.concat_str(pl.col("material").fill_null(""), pl.col("stem").fill_null(""), separator="\n")
    offered = pl.col("options").list.eval(pl.element().struct.field("text")).list.join("\n").fill_null("")
    stems, wholes = (
        normalise_column(
            bank.select(shown.str.replace_all("\0", "", literal=True)).to_series(), fold_traditional_codes
        )
        for shown in (asked, pl.concat_str(asked, offered, separator="\n"))
    )
    alone = (
        pl.DataFrame({"stem": stems, "whole": wholes, "lineage": bank["lineage_uuid"]})
        .with_row_index("owner")
        .filter(
            pl.col("lineage").n_unique().over("stem") == 1,
            pl.col("stem") != pl.col("whole"),
            pl.col("stem").str.len_chars() >= _LEAST_STEM,
        )
    )
    return wholes.to_list() + alone["stem"].to_list(), [*range(bank.height), *alone["owner"].to_list()]


def _hash(form: str) -> NDArray[np.uint64]:
    """The distinct 3-grams of a normal form, each as one number: the code points have 21 bits."""
    codes = np.frombuffer(form.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    if len(codes) < _GRAM:
        return np.empty(0, dtype=np.uint64)
    return np.unique((codes[:-2] << np.uint64(42)) | (codes[1:-1] << np.uint64(21)) | codes[2:])


def _compare(
    texts: list[str], names: NDArray[np.uint64], counts: NDArray[np.float64]
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Each question's grams of the leak (a row each) and its others; `counts` is added to."""
    rows, columns = [], []
    missing = np.zeros(len(texts))
    for row, text in enumerate(texts):
        grams = _hash(text)
        places = np.searchsorted(names, grams)
        known = (
            names[np.minimum(places, len(names) - 1)] == grams if len(names) else np.zeros(len(grams), bool)
        )
        missing[row] = len(grams) - int(known.sum())
        columns.append(places[known])
        rows.append(np.full(int(known.sum()), row))
    column = np.concatenate(columns).astype(np.int64)
    np.add.at(counts, column, 1.0)
    shape = (len(texts), len(names))
    return sparse.csr_matrix((np.ones(len(column)), (np.concatenate(rows), column)), shape=shape), missing


def _choose(found: pl.DataFrame, texts: list[str], forms: list[str], bank: pl.DataFrame) -> list[Match]:
    """One match for each lineage of the candidates, the surest first."""
    # A stem alone counts where the piece is hardly more than it, and holds no question with its options.
    whole = found.filter(~pl.col("is_alone") & (pl.col("share") >= NEAR_SHARE))["piece"].unique()
    ordered = found.filter(
        ~pl.col("is_alone")
        | ((pl.col("dice") >= _LEAST_DICE_ALONE) & ~pl.col("piece").is_in(whole.to_list()))
    )
    # Orders of options can have the same grams: then one that the piece holds word for word comes first.
    held = [
        not is_alone and share >= NEAR_SHARE and texts[row] in forms[piece]
        for row, piece, share, is_alone in ordered.select("row", "piece", "share", "is_alone").iter_rows()
    ]
    ordered = ordered.with_columns(
        likeness=pl.col("share").round(9), is_verbatim=pl.Series(held, dtype=pl.Boolean)
    ).sort(["likeness", "is_verbatim", "dice", "row"], descending=[True, True, True, False])
    lineages, questions = bank["lineage_uuid"], bank["question_uuid"]
    best: dict[str, Match] = {}
    scores: dict[str, float] = {}
    # Letters of the match where the piece holds it word for word with its options, 0 elsewhere.
    verbatim: dict[str, int] = {}
    rewords: dict[int, list[Match]] = {}
    columns = ordered.select("row", "piece", "share", "dice", "is_verbatim")
    for row, piece, share, dice, is_verbatim in columns.iter_rows():
        lineage, question = str(lineages[row]), str(questions[row])
        if len(texts[row]) < _LEAST_LETTERS:
            continue
        if share < NEAR_SHARE:
            rewords.setdefault(piece, []).append(Match(piece, lineage, None, REWORDED, round(dice, 4)))
            continue
        method = EXACT if share > 0.999 or texts[row] in forms[piece] else NEAR
        known = best.get(lineage)
        if known is None:
            best[lineage] = Match(piece, lineage, question, method, round(share, 4))
            scores[lineage], verbatim[lineage] = share + dice, len(texts[row]) if is_verbatim else 0
        elif (
            known.question_uuid not in (None, question)
            and share + dice >= scores[lineage] - _VARIANT_MARGIN
            # Another order of long options moves few grams: word for word, one order is that order and no other.
            and (is_verbatim or len(texts[row]) > verbatim[lineage])
        ):
            best[lineage] = Match(known.piece, lineage, None, known.method, known.share)
    taken = {match.piece for match in best.values()}
    for piece, matches in sorted(rewords.items()):
        if piece in taken:
            continue
        matches.sort(key=lambda match: -match.share)
        first = matches[0]
        others = [match.share for match in matches if match.lineage_uuid != first.lineage_uuid]
        if first.lineage_uuid not in best and (not others or first.share - others[0] >= _MARGIN):
            best[first.lineage_uuid] = first
    return sorted(best.values(), key=lambda match: (match.piece, match.lineage_uuid))
