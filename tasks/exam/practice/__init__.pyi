# What stands for a session's id in addresses; the exam's own ids never look so.
from .room import PRACTICE as PRACTICE

# The practice sessions of a server, one for each candidate; safe to use from several threads.
from .room import PracticeRoom as PracticeRoom
