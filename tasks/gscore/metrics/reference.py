"""Gscore's surface metrics by sacrebleu and rouge-score, one pair at a time.

They are the yardstick of the batch path.

Slow (hundreds to a few thousand pairs a second) and meant for tests, benchmarks and doubts; `batch.py` must equal it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.gscore.metrics.profiles import Profile, parse_profile


class SurfaceScores(NamedTuple):
    """BLEU-4, ROUGE-2 and chrF of the same pairs, each a float64 array on the 0–1 scale."""

    bleu4: npt.NDArray[np.float64]
    rouge2: npt.NDArray[np.float64]
    chrf: npt.NDArray[np.float64]


def score_surface_by_reference(
    references: Sequence[str], responses: Sequence[str], profile: str | Profile
) -> SurfaceScores:
    """Score pairs of (reference, response) with the published packages."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    chosen = parse_profile(profile)
    bleu = BLEU(
        tokenize=chosen.bleu_tokens,
        smooth_method=chosen.bleu_smoothing,
        effective_order=chosen.bleu_effective_order,
    )
    chrf = CHRF(beta=chosen.chrf_beta, eps_smoothing=chosen.chrf_eps_smoothing)
    rouge = _score_set_recall if chosen.rouge == "set_recall" else _CharacterRouge()
    bleus: list[float] = []
    rouges: list[float] = []
    chrfs: list[float] = []
    with _without_sentence_advice():
        for reference, response in zip(references, responses, strict=True):
            hypothesis, target = (reference, response) if chosen.bleu_swapped else (response, reference)
            bleus.append(bleu.sentence_score(hypothesis, [target]).score / 100)
            rouges.append(rouge(reference, response))
            chrfs.append(chrf.sentence_score(response, [reference]).score / 100)
    return SurfaceScores(*(np.array(values, dtype=np.float64) for values in (bleus, rouges, chrfs)))


def _score_set_recall(reference: str, response: str) -> float:
    """Return the share of the reference's distinct character bigrams that the response has.

    rouge-score counts repeated bigrams, so it cannot give the paper's number (table 9: 23/33, 25/48, 39/73).
    """
    wanted = _parse_bigrams(reference)
    return len(wanted & _parse_bigrams(response)) / len(wanted) if wanted else 0.0


def _parse_bigrams(text: str) -> set[str]:
    characters = "".join(text.split())
    return {characters[i : i + 2] for i in range(len(characters) - 1)}


class _CharacterRouge:
    """ROUGE-2's F of rouge-score with one token per character.

    This is because rouge-score's own tokeniser deletes everything Chinese.
    """

    def __init__(self) -> None:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import Tokenizer

        class CharacterTokenizer(Tokenizer):  # type: ignore[misc]
            def tokenize(self, text: str) -> list[str]:
                return list("".join(text.split()))

        self._scorer = RougeScorer(["rouge2"], tokenizer=CharacterTokenizer())

    def __call__(self, reference: str, response: str) -> float:
        return float(self._scorer.score(reference, response)["rouge2"].fmeasure)


@contextmanager
def _without_sentence_advice() -> Iterator[None]:
    """Silence the line per sentence in which sacrebleu advises effective order.

    The paper did not use it.
    """
    logger = logging.getLogger("sacrebleu")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
