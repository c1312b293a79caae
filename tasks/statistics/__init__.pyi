# An estimate with its 95% interval.
from .agreement import Bounded as Bounded

# Two judges on the same responses: the difference of their agreement with people.
from .agreement import compute_agreement_difference as compute_agreement_difference

# Cohen's kappa with its large-sample interval (Fleiss and others 1969); null if undefined.
from .agreement import compute_kappa_interval as compute_kappa_interval

# A mean with its interval by Student's t; null for fewer than two values.
from .agreement import compute_mean as compute_mean

# A share with Wilson's interval (Wilson 1927), 0 to 1; `total` is at least 1.
from .agreement import compute_share as compute_share

# Alpha of the ratings, a sequence per item, gaps left out; at most 1, null if undefined.
from .alpha import compute_alpha as compute_alpha

# Stars of the questions that every candidate has stars for.
from .bootstrap import CommonStars as CommonStars

# Three of 1,000, one of 2,000 and one of 4,000 (LLMEval-Fair, table 9), as (sample_size, resample).
from .bootstrap import DEFAULT_PLAN as DEFAULT_PLAN

# Stars of the common questions; takes columns model, question_uuid, discipline and stars.
from .bootstrap import arrange_stars as arrange_stars

# S of every candidate on every resample: columns model, resample, sample_size and score.
from .bootstrap import draw_resamples as draw_resamples

# An array of whole numbers that stand for names.
from .cells import Codes as Codes

# An array of floating-point numbers.
from .cells import Floats as Floats

# Judged answers of an edition and prompt style (or several, pooled): a row for each answer.
from .cells import StarRows as StarRows

# Differences of S with error, one for each pair or candidate; NaN where S is missing.
from .comparisons import Differences as Differences

# One element for each pair of candidates, in the order given.
from .comparisons import HeadToHead as HeadToHead

# All pairs of candidates of one edition and style: first < second, ordered by both.
from .comparisons import Pairs as Pairs

# Who of each pair has more stars on how many common questions, and how many in all.
from .comparisons import compare_stars as compare_stars

# The change of S of each candidate between two editions, as a rule of different questions.
from .comparisons import compute_changes as compute_changes

# Every pair of candidates of one edition and style.
from .comparisons import compute_pairs as compute_pairs

# The overlap of the judges' top k over several rounds.
from .consistency import Overlap as Overlap

# Exact overlap for every k of judges that put the same lists in random order.
from .consistency import compute_chance as compute_chance

# One overlap for every k that each round has; `runs` says which run a round belongs to.
from .consistency import compute_consistency as compute_consistency

# Mean stars corrected for the judge, shape (candidates,); NaN where nothing can be said.
from .correction import Corrected as Corrected

# What the judge alone says of every candidate, shape (candidates,).
from .correction import JudgedScores as JudgedScores

# Responses that people rated and the judge judged: one row each, all arrays of one length.
from .correction import RatedRows as RatedRows

# λ: the slope of people's stars on the judge's, within candidates; 0 where those are alike.
from .correction import compute_judge_weight as compute_judge_weight

# The estimate by random effects of candidate within family, unrated candidates included.
from .correction import correct_by_families as correct_by_families

# The prediction-powered estimate of every candidate with at least two rated responses.
from .correction import correct_by_ratings as correct_by_ratings

# A fitted curve of S (0 to 100) over time.
from .curve import Curve as Curve

# Fit S against release date by least squares.
from .curve import fit_curve as fit_curve

# Watch a judge over months.
from .drift import compute_drift as compute_drift

# A rating on the Elo scale and its 95% interval.
from .elo import EntryRating as EntryRating

# Ratings, mean 1000, from wins (`wins[i, j]`: i over j; a tie is half a win each).
from .elo import compute_bradley_terry as compute_bradley_terry

# The most likely rating, given opponents' ratings and results (1 won, 0.5 equal, 0 lost).
from .elo import compute_entry_rating as compute_entry_rating

# One discipline of some entries, shape (entries,); NaN for an entry without answers in it.
from .equating import EquatedDiscipline as EquatedDiscipline

# Equated scores from 0 to 100 over disciplines with their fixed weights, in the same order.
from .equating import combine_disciplines as combine_disciplines

# 95% interval of scores from 0 to `most`, by their log odds; NaN where score or error is.
from .equating import compute_bounds as compute_bounds

# Equated scores of one discipline for some `entries` (by default all; few cost less).
from .equating import compute_equated as compute_equated

# The four tests for each family that has two members or more; rows are single scores.
from .family_bias import compute_family_bias as compute_family_bias

# Stars of one discipline over many editions, a row for each answer (or repeat), with codes.
from .graded_model import GradedRows as GradedRows

# A fitted discipline.
from .graded_response import GradedFit as GradedFit

# The model of one discipline; the same rows and start give the same numbers.
from .graded_response import fit_graded_response as fit_graded_response

# All that the model learns; also where a later fit may start.
from .graded_start import Parameters as Parameters

# F of groups of scores; raises UsageError for fewer than two, or where nothing varies.
from .group_tests import compute_one_way as compute_one_way

# The spread of the runs' mean scores; `most` is the highest score that can be had.
from .group_tests import compute_run_spread as compute_run_spread

# Tukey's HSD after an analysis of variance (Tukey–Kramer where group sizes differ).
from .group_tests import compute_tukey as compute_tukey

# A weighted mean over disciplines with its error; an element for each key, NaN for none.
from .intervals import Estimate as Estimate

# R of every candidate on the questions that it and the reference both have stars for.
from .intervals import RelativeScores as RelativeScores

# S, discipline scores and (with a reference) R of all candidates of one edition and style.
from .intervals import compute_scores as compute_scores

# The weightings of Cohen's kappa, by name.
from .kappa import WEIGHTINGS as WEIGHTINGS

# A weighting of Cohen's kappa.
from .kappa import Weighting as Weighting

# Kappa of two raters over the same items, -1 to 1; null when it is undefined.
from .kappa import compute_kappa as compute_kappa

# Share of items that both raters put in the same category, 0 to 1; null without items.
from .kappa import compute_percent_agreement as compute_percent_agreement

# What an organisation gains on questions that were met before.
from .leaks import Leak as Leak

# Expected stars of a candidate on each question, at the ability that gives its mean stars.
from .leaks import expect_stars as expect_stars

# Stars = α of the candidate + β · expected + gain · met; errors clustered by lineage.
from .leaks import find_leak as find_leak

# Resamples of a bootstrap interval.
from .mean_interval import RESAMPLES as RESAMPLES

# The mean of `scores` with the interval between the 2.5% and 97.5% points of its resamples.
from .mean_interval import compute_mean_interval as compute_mean_interval

# A generator for each name: another candidate in the data changes no other's draws.
from .mean_interval import make_generator as make_generator

# Infit and outfit of every question at the entries' posterior means; repeats weigh as one.
from .question_fit import compute_question_fit as compute_question_fit

# The error rate at which candidates count as different.
from .ranks import ERROR_RATE as ERROR_RATE

# P-values corrected for their number by Holm's step-down rule (1979).
from .ranks import compute_holm as compute_holm

# Ranks, rank ranges and groups from all pairs of an edition.
from .ranks import compute_ranks as compute_ranks

# Agreement of any number of raters, with gaps.
from .raters import RaterAgreement as RaterAgreement

# A value that a rater gave.
from .raters import Value as Value

# Agreement over ratings by unit and rater.
from .raters import compute_agreement as compute_agreement

# 10, 20, 50, 100, … as far as there are questions, and all of them.
from .rating_curves import choose_sizes as choose_sizes

# One point for each size and method.
from .rating_curves import compute_rating_curves as compute_rating_curves

# The most that S can be.
from .score import FULL_SCORE as FULL_SCORE

# What a star is worth in points of S.
from .score import POINTS_PER_STAR as POINTS_PER_STAR

# Mean of the values in each of `size` cells, and how many there are; NaN in an empty cell.
from .score import compute_means as compute_means

# The same S but for the last bits, of single sessions: as editions have always added it.
from .score import compute_session_score as compute_session_score

# Repeats of a replay.
from .sparse_replays import REPEATS as REPEATS

# The shares of questions that replays keep.
from .sparse_replays import SHARES as SHARES

# Replays of each share by both methods; Elo only up to `MOST_ELO_GAMES` in a sample.
from .sparse_replays import compute_replays as compute_replays

# Rank correlation of two lists; ties share their mean rank.
from .spearman import Spearman as Spearman

# Correlation of our scores with each benchmark, from rows of the query `external_pairs`.
from .spearman import compute_external_correlations as compute_external_correlations

# Pearson's r of two lists of one length; raises UsageError for different lengths.
from .spearman import compute_pearson as compute_pearson

# Spearman's rho of two lists of one length; raises UsageError for different lengths.
from .spearman import compute_spearman as compute_spearman

# Interval of Spearman's rho by Fisher's z, with the variance of Bonett and Wright (2000).
from .spearman import compute_spearman_interval as compute_spearman_interval

# The posterior from which an organisation is named as the leaker.
from .tracing import ACCUSED as ACCUSED

# The prior that nobody leaked.
from .tracing import PRIOR_NOBODY as PRIOR_NOBODY

# Shared out equally over the coalitions of one, of two and of three organisations.
from .tracing import PRIOR_SIZES as PRIOR_SIZES

# What a leak says of who it came from: probabilities, given the assumptions of this module.
from .tracing import Suspicion as Suspicion

# The probability of each organisation and coalition.
from .tracing import trace_leak as trace_leak

__all__ = [
    "ACCUSED",
    "DEFAULT_PLAN",
    "ERROR_RATE",
    "FULL_SCORE",
    "POINTS_PER_STAR",
    "PRIOR_NOBODY",
    "PRIOR_SIZES",
    "REPEATS",
    "RESAMPLES",
    "SHARES",
    "WEIGHTINGS",
    "Bounded",
    "Codes",
    "CommonStars",
    "Corrected",
    "Curve",
    "Differences",
    "EntryRating",
    "EquatedDiscipline",
    "Estimate",
    "Floats",
    "GradedFit",
    "GradedRows",
    "HeadToHead",
    "JudgedScores",
    "Leak",
    "Overlap",
    "Pairs",
    "Parameters",
    "RatedRows",
    "RaterAgreement",
    "RelativeScores",
    "Spearman",
    "StarRows",
    "Suspicion",
    "Value",
    "Weighting",
    "arrange_stars",
    "choose_sizes",
    "combine_disciplines",
    "compare_stars",
    "compute_agreement",
    "compute_agreement_difference",
    "compute_alpha",
    "compute_bounds",
    "compute_bradley_terry",
    "compute_chance",
    "compute_changes",
    "compute_consistency",
    "compute_drift",
    "compute_entry_rating",
    "compute_equated",
    "compute_external_correlations",
    "compute_family_bias",
    "compute_holm",
    "compute_judge_weight",
    "compute_kappa",
    "compute_kappa_interval",
    "compute_mean",
    "compute_mean_interval",
    "compute_means",
    "compute_one_way",
    "compute_pairs",
    "compute_pearson",
    "compute_percent_agreement",
    "compute_question_fit",
    "compute_ranks",
    "compute_rating_curves",
    "compute_replays",
    "compute_run_spread",
    "compute_scores",
    "compute_session_score",
    "compute_share",
    "compute_spearman",
    "compute_spearman_interval",
    "compute_tukey",
    "correct_by_families",
    "correct_by_ratings",
    "draw_resamples",
    "expect_stars",
    "find_leak",
    "fit_curve",
    "fit_graded_response",
    "make_generator",
    "trace_leak",
]
