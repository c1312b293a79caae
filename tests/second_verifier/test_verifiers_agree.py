"""Two verifiers that share no line of code agree.

They report the same for honest folders and for lies that have been signed over.

For tests/second_verifier/, once tasks/exam/public/verifier.py is there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hunts import some
from tests.second_verifier.sample import make_folder
from tests.second_verifier.sample_folder import Lie
from tests.second_verifier.test_second_verifier import LIES, name_statements
from tests.second_verifier.verify import verify

FIRST = Path(__file__).parents[2] / "tasks/exam/public/verifier.py"


@pytest.mark.hunt
@pytest.mark.parametrize("name", ["the truth", "pictures", *some(list(LIES), 6)])
def test_two_verifiers_agree(name: str, tmp_path: Path) -> None:
    make_folder(
        tmp_path, LIES[name][0] if name in LIES else Lie(pictures="text_only" if name == "pictures" else None)
    )
    done = subprocess.run([sys.executable, str(FIRST), str(tmp_path)], capture_output=True, text=True)
    lines = [
        line for line in done.stdout.splitlines() if not line.startswith(("Note:", "All holds", "Edition "))
    ]
    assert name_statements(lines) == name_statements(verify(tmp_path))
    assert done.returncode == (1 if name in LIES else 0)
