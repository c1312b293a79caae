# The key as JSON lines, one per question of the bank (columns of the lake table `bank`).
from .key import build_answer_key as build_answer_key

__all__ = [
    "build_answer_key",
]
