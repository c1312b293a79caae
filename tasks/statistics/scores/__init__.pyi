# What the best blind answers get, 0 to 100.
from .chance import ChanceLevel as ChanceLevel

# The chance level of a set of questions, given with their disciplines' codes.
from .chance import compute_chance as compute_chance

# Scores as a share of what lies above chance, 100 at most; below 0 for less than chance gives.
from .chance import correct_for_chance as correct_for_chance

# Who of each pair has more stars on how many common questions, and how many in all.
from .comparisons import compare_stars as compare_stars

# The change of S of each candidate between two editions, as a rule of different questions.
from .comparisons import compute_changes as compute_changes

# The change of S of each candidate between two editions of its own, all told together.
from .comparisons import compute_improvements as compute_improvements

# Every pair of candidates in each discipline; a pair's disciplines are told together.
from .comparisons import compute_discipline_pairs as compute_discipline_pairs

# Every pair of candidates of one edition and style.
from .comparisons import compute_pairs as compute_pairs

# One element for each pair of candidates, in the order given.
from .comparisons import HeadToHead as HeadToHead

# All pairs of candidates of one edition and style: first < second, ordered by both.
from .comparisons import Pairs as Pairs

# S, discipline scores and (with a reference) R of all candidates of one edition and style.
from .intervals import compute_scores as compute_scores

# The confidence of every interval.
from .intervals import CONFIDENCE as CONFIDENCE

# A weighted mean over disciplines with its error; an element for each key, NaN for none.
from .intervals import Estimate as Estimate

# R of every candidate on the questions that it and the reference both have stars for.
from .intervals import RelativeScores as RelativeScores

# Ranks, rank ranges and groups from all pairs of an edition.
from .ranks import compute_ranks as compute_ranks

# Differences of S with error, one for each pair or candidate; NaN where S is missing.
from .together import Differences as Differences

# The error rate at which candidates count as different.
from .together import ERROR_RATE as ERROR_RATE

# What was answered before, an element for each candidate, style and discipline; points of 100.
from .sizes import AnswerSums as AnswerSums

# Standard error of S to be expected of a set with these shares, in points.
from .sizes import compute_expected_se as compute_expected_se

# How far answers lie apart for candidates who are to answer each question `repeats` times.
from .sizes import find_spreads as find_spreads

# Sets from the smallest to one with an error of `least_se`, or of all questions.
from .sizes import grow_sets as grow_sets

# A discipline that a set is drawn from.
from .sizes import Stratum as Stratum
