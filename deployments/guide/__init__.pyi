# What was answered before anybody is asked.
from .talking import GivenAnswers as GivenAnswers

# Go from papers to a leaderboard as far as it goes now; returns the exit code.
from .month import guide_month as guide_month
