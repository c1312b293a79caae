"""Several judges of the same responses as one jury.

What stars a response deserves is not seen; each judge gives k stars where z are deserved with a chance of its own, a confusion of
stars, apart in each discipline (Dawid and Skene 1979). Both are found together by EM. Where people rated a response, what it deserves
is known, and so the scale is that of people; where nobody did, the judges are held to one another. A judge's confusion in a
discipline is drawn towards its own in all of them, and that one towards a judge that seldom errs by much: by so many responses as
`_BELIEVED` and `_LENT` say. How often a candidate deserves how many stars is drawn towards what all do by a single response.

What nobody rated says of the confusions together no more than what was rated: two judges alone fit what one of them does by chance, and
thousands of responses would outweigh the few that tell. With three judges and no ratings these responses are all there is.

Judges are taken to err independently where the same stars are deserved. Where they err alike, the jury is surer than it should be
and shares their bias: `correct_by_ratings` of its stars then says what people would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.statistics.cells import Codes, Floats
from tasks.statistics.judges.correction import Corrected, bound_stars
from tasks.statistics.score import MOST_STARS, compute_score

_LEVELS = MOST_STARS + 1
_STARS = np.arange(_LEVELS)
# Responses of each deserved star that are taken as seen before any: how a judge errs overall, and in one discipline.
_BELIEVED = 1.0
_LENT = 20.0
_ALIKE = 1.0
# What those first responses got: five times as seldom with each star that they are off.
_USUAL = 0.2 ** np.abs(_STARS[:, None] - _STARS[None, :])
_USUAL = _USUAL / _USUAL.sum(axis=1, keepdims=True)

_MOST_GROUPS = 20
_MOST_STEPS = 2_000
# Gain of log-likelihood for each response below which a fit has ended.
_CLOSE = 1e-8
# Log of what is never seen, less than the likeliest: two judges may contradict each other in what neither was ever seen to give.
_LEAST = -100.0


@dataclass(frozen=True)
class Votes:
    """The stars that responses got, a row for each response; codes are whole numbers from 0.

    Attributes:
        stars: responses × columns, 0 to 3; -1 where a judge gave none. A response without any earns nothing.
        judge: whose column it is; columns of one judge share its confusion, as a rater's who rated twice.
        discipline: code of the question's discipline.
        known: shares of raters who gave 0 to 3 stars, responses × 4; NaN where nobody rated it.
        cluster: code of what the question was drawn with, whose responses are left out together for the error.
    """

    stars: Codes
    judge: Codes
    candidate: Codes
    discipline: Codes
    known: Floats
    cluster: Codes


@dataclass(frozen=True)
class Confusions:
    """A fitted model.

    Attributes:
        deserved: how often 0 to 3 stars are deserved, candidates (or all as one) × 4.
        given: chance of each number of stars, judges × disciplines (or all as one) × deserved × given.
        chances: of what each response deserves, responses × 4; what is known where people rated.
        likelihood: log-likelihood of the votes, with what is believed beforehand.
    """

    deserved: Floats
    given: Floats
    chances: Floats
    likelihood: float


@dataclass(frozen=True)
class Jury:
    """What the jury says.

    Attributes:
        chances: of 0 to 3 stars, responses × 4; what is known where people rated, zeros where nobody judged.
        heard: mean stars of every response by the judges alone, 0 where nobody judged.
        heard_apart: the same by a fit without the response's cluster; people's stars there have no part in it.
        score: mean stars of every candidate with error and interval.
        heard_score: the same by the judges alone.
        given: the judges' confusions, judges × disciplines and all of them × deserved × given.
        information: what a judge's stars tell of those deserved, in bits, judges × disciplines and all of them.
        agreement: chance that a judge gives what is deserved, likewise.
        bias: mean of what a judge gives less what is deserved, likewise.
    """

    chances: Floats
    heard: Floats
    heard_apart: Floats
    score: Corrected
    heard_score: Corrected
    given: Floats
    information: Floats
    agreement: Floats
    bias: Floats


@dataclass(frozen=True)
class _Patterns:
    """Responses that have the same votes, candidate, discipline and ratings, told once."""

    votes: Votes
    place: Codes
    group: Codes
    count: Floats


@dataclass(frozen=True)
class _Step:
    """The patterns as a step of the fit tells them apart: which stand for all, and for which."""

    votes: Votes
    chosen: Codes
    place: Codes


def hear_jury(votes: Votes, weights: Floats, *, candidate_count: int) -> Jury:
    """What the jury makes of the votes, with the error of every candidate's mean stars.

    `weights` are those of the disciplines in S. Errors are of a jackknife that leaves out groups of clusters and fits again, so that
    they hold what is not known of the judges. NaN where a candidate has no response in a discipline that has weight, or none outside
    of a group.
    """
    patterns = _find_patterns(votes)
    told, shape = patterns.votes, (candidate_count, len(weights))
    whole = patterns.count.sum(axis=0)
    answered = np.bincount(patterns.group, minlength=len(patterns.count))
    asked = np.zeros((len(patterns.count), *shape))
    np.add.at(asked, (patterns.group, votes.candidate, votes.discipline), 1.0)

    def compute_stars(of_pattern: Floats, count: Floats, number: Floats) -> Floats:
        total = np.zeros(shape)
        np.add.at(total, (told.candidate, told.discipline), count * of_pattern)
        with np.errstate(divide="ignore", invalid="ignore"):
            return compute_score(total / number, weights, scale=1.0)

    steps = _list_steps(told)
    fits = _fit_in_steps(steps, whole, shape, None)
    chances, heard = fits[-1].chances, _hear(told, fits[-1]) @ _STARS
    apart = np.full(len(votes.candidate), np.nan)
    left: list[tuple[Floats, Floats]] = []
    for group in np.flatnonzero(answered):
        count, number = whole - patterns.count[group], asked.sum(axis=0) - asked[group]
        again = _fit_in_steps(steps, count, shape, fits)[-1]
        alone = _hear(told, again) @ _STARS
        left.append(
            (compute_stars(again.chances @ _STARS, count, number), compute_stars(alone, count, number))
        )
        own = (patterns.group == group) & (patterns.place >= 0)
        apart[own] = alone[patterns.place[own]]
    questions = np.array(
        [len(np.unique(votes.cluster[votes.candidate == one])) for one in range(candidate_count)], dtype=float
    )
    degrees = np.full(candidate_count, max(len(left) - 1.0, 1.0))
    score, heard_score = (
        bound_stars(
            compute_stars(said, whole, asked.sum(axis=0)), _jackknife(np.array(others)), degrees, questions
        )
        for said, others in zip((chances @ _STARS, heard), zip(*left, strict=True), strict=True)
    )
    is_told = patterns.place >= 0
    given = np.concatenate([fits[-1].given, fits[-2].given], axis=1)
    information, agreement, bias = _describe(told, whole, chances, given)
    return Jury(
        chances=np.where(is_told[:, None], chances[patterns.place], 0.0),
        heard=np.where(is_told, heard[patterns.place], 0.0),
        heard_apart=np.where(is_told, apart, 0.0),
        score=score,
        heard_score=heard_score,
        given=given,
        information=information,
        agreement=agreement,
        bias=bias,
    )


def fit_confusions(
    votes: Votes,
    count: Floats,
    *,
    deserved_before: Floats,
    given_before: Floats,
    first: Floats | None = None,
    unrated_weight: float = 1.0,
) -> Confusions:
    """The model of the highest likelihood, with so many responses seen before.

    Dawid and Skene's own has one candidate, one discipline, and nothing seen before.

    Args:
        votes: the responses, each `count` times.
        count: how often each counts.
        deserved_before: responses seen before, candidates × 4.
        given_before: the same of the judges, judges × disciplines × deserved × given.
        first: chances of what each response deserves, to begin with; by default the shares of its votes.
        unrated_weight: what a response that nobody rated counts for the judges' confusions; below 1 these are those that agree with
            themselves, and no likelihood is highest.
    """
    is_known = ~np.isnan(votes.known[:, 0])
    if first is None:
        first = np.stack([(votes.stars == star).sum(axis=1) for star in _STARS], axis=1) + 1e-9
        first = first / first.sum(axis=1, keepdims=True)
    chances = np.where(is_known[:, None], np.nan_to_num(votes.known), first)
    telling = count * np.where(is_known, 1.0, unrated_weight)
    before = -np.inf
    for _ in range(_MOST_STEPS):
        deserved = _normalise(
            _count_deserved(votes.candidate, chances, count, len(deserved_before)) + deserved_before
        )
        given = _normalise(_count_given(votes, chances, telling, given_before.shape) + given_before)
        joint = _join(votes, deserved, given)
        alone, total = _divide(joint)
        chances = np.where(is_known[:, None], chances, alone)
        told = np.where(is_known, (chances * np.where(chances > 0, joint, 0.0)).sum(axis=1), total)
        likelihood = float((count * told).sum())
        for seen, found in ((deserved_before, deserved), (given_before, given)):
            likelihood += float((seen * np.log(np.where(seen > 0, found, 1.0))).sum())
        if abs(likelihood - before) < _CLOSE * max(1.0, count.sum()):
            break
        before = likelihood
    return Confusions(deserved, given, chances, likelihood)


def _fit_in_steps(
    steps: Sequence[_Step], count: Floats, shape: tuple[int, int], starts: Sequence[Confusions] | None
) -> list[Confusions]:
    """A fit for each step, drawn towards the one before; begun where that or its start ended."""
    believed = np.tile(_USUAL * _BELIEVED, (int(steps[0].votes.judge.max()) + 1, 1, 1, 1))
    is_known = ~np.isnan(steps[-1].votes.known[:, 0])
    rated, unrated = float(count[is_known].sum()), float(count[~is_known].sum())
    fits: list[Confusions] = []
    for number, step in enumerate(steps):
        first: Floats | None = None
        if starts is not None:
            first = starts[number].chances
        elif fits:
            first = fits[-1].chances[steps[number - 1].place[step.chosen]]
        fits.append(
            fit_confusions(
                step.votes,
                np.bincount(step.place, weights=count).astype(float),
                deserved_before=np.tile(fits[0].deserved * _ALIKE, (shape[0], 1))
                if fits
                else np.full((1, _LEVELS), 0.25),
                given_before=np.tile(fits[1].given * _LENT, (1, shape[1], 1, 1))
                if len(fits) == 2
                else believed,
                first=first,
                unrated_weight=min(1.0, rated / unrated) if rated and unrated else 1.0,
            )
        )
    return fits


def _list_steps(votes: Votes) -> list[_Step]:
    """All candidates and disciplines as one, every candidate, every discipline."""
    one = np.zeros_like(votes.candidate)
    steps = []
    for candidate, discipline in ((one, one), (votes.candidate, one), (votes.candidate, votes.discipline)):
        wider = replace(votes, candidate=candidate, discipline=discipline)
        chosen, place = _find_alike(wider)
        steps.append(_Step(_choose(wider, chosen), chosen, place))
    return steps


def _find_alike(votes: Votes) -> tuple[Codes, Codes]:
    """One row of each that say the same, and which of these each row is."""
    whole = np.column_stack(
        [votes.stars, votes.candidate, votes.discipline, np.nan_to_num(votes.known, nan=-1.0)]
    )
    _, chosen, place = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    return chosen, place.ravel()


def _join(votes: Votes, deserved: Floats, given: Floats) -> Floats:
    """Log-likelihood of each response's votes with each number of stars that it may deserve."""
    with np.errstate(divide="ignore"):
        joint = np.log(deserved)[votes.candidate]
        told = np.log(given)
    for column, judge in enumerate(votes.judge):
        star = votes.stars[:, column]
        joint = joint + np.where(
            (star >= 0)[:, None], told[judge, votes.discipline, :, np.maximum(star, 0)], 0.0
        )
    # Where all are impossible, none is more so than another.
    return np.asarray(np.maximum(joint, 10.0 * _LEAST))


def _hear(votes: Votes, fit: Confusions) -> Floats:
    """Chances of what each response deserves by the judges alone, rated or not."""
    return _divide(_join(votes, fit.deserved, fit.given))[0]


def _divide(joint: Floats) -> tuple[Floats, Floats]:
    """Chances, none so small that it slows down sums, and the log-likelihood of each response."""
    highest = joint.max(axis=1, keepdims=True)
    weight = np.exp(np.maximum(joint - highest, _LEAST))
    total = weight.sum(axis=1, keepdims=True)
    return weight / total, (highest + np.log(total))[:, 0]


def _count_deserved(owner: Codes, chances: Floats, count: Floats, size: int) -> Floats:
    return np.stack(
        [np.bincount(owner, weights=count * chances[:, star], minlength=size) for star in _STARS], axis=1
    )


def _count_given(votes: Votes, chances: Floats, count: Floats, shape: tuple[int, ...]) -> Floats:
    found = np.zeros(shape)
    for column, judge in enumerate(votes.judge):
        is_given = votes.stars[:, column] >= 0
        cell = votes.discipline[is_given] * _LEVELS + votes.stars[is_given, column]
        for star in _STARS:
            weight = (count * chances[:, star])[is_given]
            found[judge, :, star, :] += np.bincount(
                cell, weights=weight, minlength=shape[1] * _LEVELS
            ).reshape(-1, _LEVELS)
    return found


def _normalise(counts: Floats) -> Floats:
    """Shares of the last axis; all alike where nothing was counted."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1]))


def _find_patterns(votes: Votes) -> _Patterns:
    """Responses that say the same, by group of clusters; each has its part of every discipline."""
    clusters, first, of_row = np.unique(votes.cluster, return_index=True, return_inverse=True)
    groups = min(_MOST_GROUPS, len(clusters))
    turn = np.empty(len(clusters), dtype=np.int64)
    turn[np.argsort(votes.discipline[first], kind="stable")] = np.arange(len(clusters)) % groups
    group = turn[of_row]
    is_told = (votes.stars >= 0).any(axis=1) | ~np.isnan(votes.known[:, 0])
    told = _choose(votes, np.flatnonzero(is_told))
    chosen, place = _find_alike(told)
    of_all = np.full(len(is_told), -1, dtype=np.int64)
    of_all[is_told] = place
    count = np.zeros((groups, len(chosen)))
    np.add.at(count, (group[is_told], place), 1.0)
    return _Patterns(_choose(told, chosen), of_all, group, count)


def _choose(votes: Votes, rows: Codes) -> Votes:
    return Votes(
        votes.stars[rows],
        votes.judge,
        votes.candidate[rows],
        votes.discipline[rows],
        votes.known[rows],
        votes.cluster[rows],
    )


def _jackknife(others: Floats) -> Floats:
    """Standard errors from estimates that each leave out one group, groups × candidates."""
    groups = len(others)
    return np.asarray(np.sqrt((groups - 1.0) / groups * ((others - others.mean(axis=0)) ** 2).sum(axis=0)))


def _describe(votes: Votes, count: Floats, chances: Floats, given: Floats) -> tuple[Floats, Floats, Floats]:
    """Information, agreement and bias of each judge in each discipline, last in all of them."""
    fields = given.shape[1] - 1
    deserved = _count_deserved(votes.discipline, chances, count, fields)
    share = _normalise(np.concatenate([deserved, deserved.sum(axis=0, keepdims=True)]))
    joint = share[None, :, :, None] * given
    shown = joint.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(joint > 0, joint * np.log2(given / shown), 0.0).sum(axis=(2, 3))
    agreement = np.einsum("jdzz->jd", joint)
    bias = (joint * (_STARS[None, :] - _STARS[:, None])).sum(axis=(2, 3))
    return np.maximum(told, 0.0), agreement, bias
