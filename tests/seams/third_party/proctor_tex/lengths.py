"""How long a response is beside its reference."""

import numpy as np


class Lengths:
    columns = ("length_ratio",)
    identity = "lengths 1"

    def score(self, references, responses, profile):
        pairs = zip(references, responses, strict=True)
        return {"length_ratio": np.array([len(b) / len(a) if a else np.nan for a, b in pairs], dtype=float)}


LENGTHS = Lengths()
