"""How sure a reading is by the fitted numbers, and whether its paper is held whole."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from schemas.errors import UsageError
from tasks.ingest.confidence.evidence import Evidence, gather_paper, gather_questions
from tasks.ingest.contracts import KEY_SHOWN, UNREAD_LINES, Breach, Checked

# A fitted step is never surer: a question that nothing speaks against may still be wrong.
_MOST_SURE = 0.99


@dataclass(frozen=True)
class Fit:
    """Weights of the evidence for a question and for a paper, and what their sums are worth.

    `question` and `paper` weigh evidence in a logistic sum, `""` is the constant. `steps` are the knots of what such a share
    turned out to be on papers that were left out: (share by the sum, share that was right), between which a line is drawn.
    `made` says of what it was fitted.
    """

    question: Mapping[str, float]
    paper: Mapping[str, float]
    steps: Sequence[tuple[float, float]] = ((0.0, 0.0), (1.0, 1.0))
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """A name made of the numbers: the same numbers have the same name."""
        numbers = json.dumps(
            [sorted(self.question.items()), sorted(self.paper.items()), list(self.steps)], sort_keys=True
        )
        return hashlib.sha256(numbers.encode()).hexdigest()[:12]

    def expect_right(self, evidence: Mapping[str, float]) -> float:
        """How likely a question of this evidence is fully right."""
        return min(_MOST_SURE, interpolate(self.steps, _sum_up(self.question, evidence)))

    def expect_share(self, evidence: Mapping[str, float]) -> float:
        """What share of a paper of this evidence is right; what was not found is wrong."""
        return _sum_up(self.paper, evidence)

    def render(self) -> str:
        """The fit as JSON, as it is kept."""
        value = {
            "question": dict(sorted(self.question.items())),
            "paper": dict(sorted(self.paper.items())),
            "steps": [list(step) for step in self.steps],
            "made": dict(self.made),
        }
        return json.dumps(value, ensure_ascii=False, indent=1)


def parse_fit(text: str) -> Fit:
    """The fit in a JSON text.

    Raises:
        UsageError: it is no such JSON.
    """
    try:
        value = json.loads(text)
        return Fit(
            {str(name): float(weight) for name, weight in value["question"].items()},
            {str(name): float(weight) for name, weight in value["paper"].items()},
            tuple((float(first), float(second)) for first, second in value["steps"]),
            value["made"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"The fit of the confidence cannot be read ({error}). Make it again with `proctor ingest learn`."
        ) from None


@lru_cache(maxsize=1)
def read_packaged_fit() -> Fit:
    """The fit that comes with the program."""
    return parse_fit(
        resources.files("tasks.ingest.confidence").joinpath("fit.json").read_text(encoding="utf-8")
    )


@lru_cache(maxsize=4)
def read_fit(text: str | None) -> Fit:
    """The fit in a text, or the one that comes with the program."""
    return parse_fit(text) if text else read_packaged_fit()


def _sum_up(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    total = weights.get("", 0.0) + sum(
        weights[name] * value for name, value in evidence.items() if name in weights
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def interpolate(steps: Sequence[tuple[float, float]], value: float) -> float:
    """The value on the line between the knots; beyond the first and last knot it is theirs."""
    at = bisect_right([first for first, _ in steps], value)
    if at == 0:
        return steps[0][1]
    if at == len(steps):
        return steps[-1][1]
    (left, low), (right, high) = steps[at - 1], steps[at]
    return low + (high - low) * (value - left) / (right - left) if right > left else high


# Sentences of broken contracts that the reason for holding a paper names.
_MOST_NAMED = 3
# What no question of a held paper exceeds: its neighbours are wrong, and nobody has looked yet.
_MOST_SURE_HELD = 0.6


@dataclass(frozen=True)
class Terms:
    """When a question needs special care, and when a paper is held.

    `threshold`: questions of less confidence get the status `low_confidence`. `least_right`: a paper of which a smaller
    share is expected to be right is held. `most_broken`: so is one of whose questions a larger share is concerned by
    contracts that the reading breaks. `fit` is the JSON of the fit to use, None for the one that comes with the program.
    """

    threshold: float = 0.6
    least_right: float = 0.5
    most_broken: float = 0.5
    fit: str | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Terms:
        """The terms in the options of a reading."""
        return cls(
            float(options["confidence_threshold"]),
            float(options.get("hold_least_right", cls.least_right)),
            float(options.get("hold_most_broken", cls.most_broken)),
            options.get("confidence_fit"),
        )


def judge_reading(
    document: dict[str, Any],
    questions: list[dict[str, Any]],
    text: str,
    checked: Checked,
    terms: Terms,
    *,
    shows_answers: bool = True,
) -> None:
    """Give a paper and its questions their confidence, and hold a paper that was read badly.

    `document` and `questions` are rows on their way to be landed, and are changed. A paper without questions is neither.
    `shows_answers`: the paper may print answers that were not read.
    """
    if not questions:
        return
    fit = read_fit(terms.fit)
    evidence = gather_paper(document, questions, text, checked, shows_answers)
    document["confidence_version"] = fit.version
    document["reading"] = write_reading(evidence, checked)
    share = compute_confidences(fit, evidence, questions, checked.breaches)
    settle(document, questions, share, checked, terms)


def settle(
    document: dict[str, Any],
    questions: Sequence[dict[str, Any]],
    share: float,
    checked: Checked,
    terms: Terms,
) -> None:
    """Hold or pass a paper by the share expected to be right; name its questions' status."""
    document["expected_right_rate"] = share
    reason = _find_reason(share, checked, terms)
    document["status"], document["error"] = ("held", reason) if reason else ("parsed", None)
    for row in questions:
        if reason:
            row["parse_confidence"] = min(row["parse_confidence"], _MOST_SURE_HELD)
        if KEY_SHOWN in row["parse_notes"]:
            row["parse_confidence"] = min(row["parse_confidence"], terms.threshold / 2)
        row["status"] = name_status(row, terms.threshold)


def compute_confidences(
    fit: Fit, evidence: Evidence, questions: Sequence[dict[str, Any]], breaches: Sequence[Breach]
) -> float:
    """Set the confidence of questions; the share that is expected to be right."""
    for row, own in zip(questions, gather_questions(evidence, questions, breaches), strict=True):
        row["parse_confidence"] = round(fit.expect_right(own), 2)
    return round(fit.expect_share(summarise(evidence, questions)), 2)


def summarise(evidence: Evidence, questions: Sequence[Mapping[str, Any]]) -> Evidence:
    """The evidence for the share of a paper that is right, how sure its questions are with it."""
    sure = sum(float(row["parse_confidence"]) for row in questions) / max(1, len(questions))
    return {**evidence, "sure_mean": sure}


def name_status(row: Mapping[str, Any], threshold: float) -> str:
    """Whether a question needs special care in review."""
    if row["parse_confidence"] < threshold:
        return "low_confidence"
    return "parsed" if row["answer"] else "no_answer"


def write_reading(evidence: Evidence, checked: Checked) -> str:
    """What was seen of a reading as a whole, as it is landed with its document."""
    value = {
        "breaches": [asdict(breach) for breach in checked.breaches],
        "kept": checked.kept,
        "score": round(checked.score, 4),
        "margin": round(checked.margin, 4),
        "evidence": {name: round(number, 4) for name, number in evidence.items()},
    }
    return json.dumps(value, ensure_ascii=False)


def parse_reading(text: str | None) -> tuple[Evidence, Checked]:
    """The evidence and contracts of a landed paper; empty where they were not kept."""
    if not text:
        return {}, Checked()
    value = json.loads(text)
    breaches = tuple(Breach(**breach) for breach in value["breaches"])
    return value["evidence"], Checked(breaches, value["kept"], value["score"], value["margin"])


def _find_reason(share: float, checked: Checked, terms: Terms) -> str | None:
    """Why a paper is held, in the words that a person reads; None where it is not."""
    broken = 1 - checked.score
    is_shown = any(breach.contract == KEY_SHOWN for breach in checked.breaches)
    if share >= terms.least_right and broken <= terms.most_broken and not is_shown:
        return None
    order = sorted(checked.breaches, key=lambda breach: (breach.contract != KEY_SHOWN, -breach.size))
    largest = order[:_MOST_NAMED]
    found = " ".join(breach.words for breach in largest)
    more = len(checked.breaches) - len(largest)
    said = f"{found}{f' And {more} more.' if more > 0 else ''} " if found else ""
    if any(breach.contract == UNREAD_LINES for breach in checked.breaches):
        why = "It was not read."
    elif is_shown:
        why = "Candidates would read its keys."
    elif broken > terms.most_broken:
        why = f"What the paper says of itself does not hold for {broken:.0%} of its questions."
    else:
        why = f"Only {share:.0%} of it is expected to be read right."
    return f"Held: {why} {said}Correct how it is divided on the web desk, or release it as it is: `proctor documents release`."
