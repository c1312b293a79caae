"""Child processes in which papers are read, and their limits."""

from __future__ import annotations

import os
from pathlib import Path

from schemas import patterns as re

# What programs and libraries need to run. Keys of models and stores, and addresses with passwords, are none of it: a paper
# may be made to take over what opens it.
_NEEDED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|VIRTUAL_ENV|(?:XDG|FONTCONFIG|SAL)_\w+|"
    r"PYTHON(?!PATH)\w+|(?:OMP|MKL|OPENBLAS|NUMEXPR|MALLOC|CUDA)_\w+|DYLD_\w+|SYSTEMROOT|PROCTOR_SOFFICE"
)


def make_environment() -> dict[str, str]:
    """The environment of a child that opens papers: what it needs to run, and no secret."""
    root, search = str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")
    kept = {name: value for name, value in os.environ.items() if _NEEDED.fullmatch(name)}
    return {**kept, "PYTHONPATH": f"{root}{os.pathsep}{search}" if search else root}
