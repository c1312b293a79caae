"""Two logs of Inspect and what its own reader finds in them.

It runs in an environment of its own: `python sums.py FOLDER`.

Two epochs, three scorers, one question whose scorer fails; OPENAI-compatible endpoint by LOCAL_BASE_URL.
"""

from __future__ import annotations

import json
import sys

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Score, accuracy, exact, mean, scorer, stderr
from inspect_ai.solver import generate

QUESTIONS = ("2+2?", "Which is larger,\u2028 7 or 9?", "把三加四写成数字。", "Name a prime.", "0.1+0.2?")


@scorer(metrics={"*": [mean(), stderr()]})
def counts():
    """Two values under names of their own, and no value at all for one question."""

    async def score(state, target):
        if "prime" in state.input_text:
            raise ValueError("planted")
        text = state.output.completion
        return Score(value={"letters": len(text), "is_short": len(text) < 20}, answer=text[:10])

    return score


@scorer(metrics=[accuracy()])
def grade():
    """Letters, of which one is partly correct and one no answer."""

    async def score(state, target):
        return Score(value={"4": "C", "9": "P", "7": "I"}.get(target.text, "N"), explanation="by its target")

    return score


@task
def sums():
    """Five questions, asked twice."""
    samples = [
        Sample(id=f"q{number}", input=text, target=target, metadata={"number": number})
        for number, (text, target) in enumerate(zip(QUESTIONS, ("4", "9", "7", "2", ".3"), strict=True))
    ]
    return Task(
        dataset=MemoryDataset(samples),
        solver=generate(),
        scorer=[exact(), grade(), counts()],
        epochs=2,
        fail_on_error=False,
    )


def main() -> None:
    """Write a log in each form; print its file and each sample's scores as Inspect reads them."""
    (folder,) = sys.argv[1:]
    found = {}
    for form in ("eval", "json"):
        (log,) = eval(
            sums(),
            model="openai-api/local/sim",
            log_dir=folder,
            log_format=form,
            display="none",
            max_connections=2,
        )
        again = read_eval_log(log.location)
        found[form] = {
            "location": log.location,
            "status": again.status,
            "created": again.eval.created,
            "model": again.eval.model,
            "samples": [
                {
                    "id": sample.id,
                    "epoch": sample.epoch,
                    "completion": sample.output.completion,
                    "has_error": sample.error is not None,
                    "scores": {
                        name: {"value": score.value, "answer": score.answer}
                        for name, score in (sample.scores or {}).items()
                    },
                    "message_count": len(sample.messages),
                    "metadata": sample.metadata,
                }
                for sample in again.samples
            ],
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
