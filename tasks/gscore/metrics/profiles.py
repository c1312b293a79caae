"""The two named ways to compute Gscore's surface metrics, and the weights that join them.

`cgeval-paper` is what printed CG-Eval's table 9 (it was re-derived from the printed numbers, see docs/gscore.md);
`standard` is what sacrebleu and rouge-score compute when they are used as their documentation says.
A score is only comparable with another of the same profile and the same similarity model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from schemas.errors import UsageError, suggest

BLEU_WEIGHT = 0.2
ROUGE_WEIGHT = 0.25
CHRF_WEIGHT = 0.25
SIMILARITY_WEIGHT = 0.3

BLEU_MAX_ORDER = 4
CHRF_MAX_ORDER = 6
Score = TypeVar("Score", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class Profile:
    """How BLEU-4, ROUGE-2 and chrF are computed.

    White space is never part of an n-gram of characters.
    """

    name: str
    """The identity stored with every score."""

    bleu_tokens: Literal["char", "zh"]
    """`char`: every non-space character is a token. `zh`: sacrebleu's Chinese tokeniser (Latin words and numbers stay whole)."""

    bleu_swapped: bool
    """True: the reference stands where BLEU expects the hypothesis, as the paper called it; precision is then over the reference."""

    bleu_smoothing: Literal["none", "exp"]
    """`none`: an order without a match makes BLEU 0. `exp`: sacrebleu's default smoothing."""

    bleu_effective_order: bool
    """True: orders longer than the hypothesis are left out."""

    rouge: Literal["set_recall", "f_measure"]
    """`set_recall`: share of the reference's distinct character bigrams found in the response. `f_measure`: rouge-score's F."""

    chrf_beta: int
    """How many times recall counts as much as precision."""

    chrf_eps_smoothing: bool
    """True: F per order, averaged over all six orders. False: precision and recall averaged over the orders that both texts have."""


CGEVAL_PAPER = Profile(
    name="cgeval-paper",
    bleu_tokens="char",
    bleu_swapped=True,
    bleu_smoothing="none",
    bleu_effective_order=False,
    rouge="set_recall",
    chrf_beta=3,
    chrf_eps_smoothing=True,
)
STANDARD = Profile(
    name="standard",
    bleu_tokens="zh",
    bleu_swapped=False,
    bleu_smoothing="exp",
    bleu_effective_order=True,
    rouge="f_measure",
    chrf_beta=2,
    chrf_eps_smoothing=False,
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in (CGEVAL_PAPER, STANDARD)}
DEFAULT_PROFILE = CGEVAL_PAPER.name


def parse_profile(profile: str | Profile) -> Profile:
    """Return the profile of that name; a `Profile` is returned as it is.

    Raises UsageError for an unknown name.
    """
    if isinstance(profile, Profile):
        return profile
    if profile not in PROFILES:
        raise UsageError(
            f"There is no Gscore profile {profile!r}.{suggest(profile, PROFILES)} Use one of: {', '.join(PROFILES)}."
        )
    return PROFILES[profile]


def compute_gscore(bleu4: Score, rouge2: Score, chrf: Score, similarity: Score) -> Score:
    """Return the weighted sum of CG-Eval, section 3.3.2.

    It is the sum of numbers or of arrays of them, all on the 0–1 scale.
    """
    return BLEU_WEIGHT * bleu4 + ROUGE_WEIGHT * rouge2 + CHRF_WEIGHT * chrf + SIMILARITY_WEIGHT * similarity
