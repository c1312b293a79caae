"""What Inspect itself reads of an exported task, from an environment of its own.

Run it as `python open_inspect.py FOLDER NAME`.

Loads the task from its file, evaluates it against LOCAL_BASE_URL, and prints its samples and scores.
"""

from __future__ import annotations

import json
import os
import sys

from inspect_ai import eval
from inspect_ai.log import read_eval_log


def main() -> None:
    """Evaluate and print."""
    folder, name = sys.argv[1:]
    # Inspect finds tasks by paths below the folder it is started in.
    os.chdir(folder)
    (log,) = eval(
        f"{name}.py", model="openai-api/local/sim", log_dir="logs", log_format="json",
        display="none", max_connections=2,
    )  # fmt: skip
    again = read_eval_log(log.location)
    print(
        json.dumps(
            {
                "status": again.status,
                "task": again.eval.task,
                "samples": [
                    {
                        "id": sample.id,
                        "input": sample.input if isinstance(sample.input, str) else sample.input[0].text,
                        "target": sample.target,
                        "metadata": sample.metadata,
                        "scores": {key: score.value for key, score in (sample.scores or {}).items()},
                    }
                    for sample in again.samples or []
                ],
            }
        )
    )


if __name__ == "__main__":
    main()
