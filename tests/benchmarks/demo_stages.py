"""The demo's wall and CPU time by stage, first and second run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from deployments.demo import render_stages
from deployments.demo.run import StageCost

PROCTOR = str(Path(sys.executable).with_name("proctor"))


def main() -> None:
    """Run `proctor demo` twice in a new home and print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PROCTOR_HOME": folder, "PROCTOR_QUIET": "1"}
        for title in ("The demo by stage", "The demo again: nothing to pay for, nothing to land"):
            done = subprocess.run(
                [PROCTOR, "demo", "--json"], env=environment, check=True, capture_output=True, text=True
            )
            stages = [StageCost(**stage) for stage in json.loads(done.stdout)["stages"]]
            print(f"\n## {title}\n")
            print("\n".join(render_stages(stages)))
            print("(the Prefect server's and the model server's CPU is not in it)")


if __name__ == "__main__":
    main()
