"""Run a candidate's program in a process of its own.

The process has no network, and limits of time, memory, files and processes.

What it does not protect against: a program can read every file that the user who runs Proctor may read (as root it runs as
`nobody` and reads what everybody may), it can use a processor until its time is over, and a fault of the kernel is a way
out. Give Proctor a machine or a container of its own where that matters. Off unless a league is told to run code.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from schemas.errors import ProctorError

if TYPE_CHECKING:
    from tasks.league.domain import Domain
    from tasks.league.rounds import GivenAnswer
    from tasks.league.setting import SetQuestion

Execution = Literal["passed", "failed", "error", "timeout", "memory", "refused"]

# Read as a file and copied into the room: nothing of Proctor is imported there.
WORKER = "tasks.league.sandbox_worker"
_MOST_EXAMPLES = 5
# What a program ends with when its processor time is over: by its own word, or killed, with and without a room around it.
_OVERTIME = (99, -signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU, 128 + signal.SIGKILL)
# Namespaces of its own for network and processes: as root, or as a user who may make them.
_ROOMS = (
    ("unshare", "--net", "--pid", "--fork", "--kill-child"),
    ("unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"),
)


@dataclass(frozen=True)
class Limits:
    """What one program may use.

    Attributes:
        cpu_s: processor seconds.
        wall_s: seconds until it is ended whatever it does.
        memory_mb: address space, in MiB.
        file_mb: size of any file that it writes, its output included, in MiB.
        file_count: files open at once.
        process_count: processes and threads of the user it runs as.
    """

    cpu_s: int = 5
    wall_s: float = 10.0
    memory_mb: int = 512
    file_mb: int = 8
    file_count: int = 32
    process_count: int = 16


@dataclass(frozen=True)
class RunOutcome:
    """What became of a program: `finished` with its output, or why it has none."""

    status: Literal["finished", "error", "timeout", "memory", "refused"]
    output: str = ""


def run_program(
    program: str, stdin: str, limits: Limits | None = None, *, has_open_network: bool = False
) -> RunOutcome:
    """Run a Python program on an input.

    Where the machine offers no room without network the program is refused, unless `has_open_network` says that it may
    run all the same. Raises ProctorError when the sandbox itself cannot be started.
    """
    chosen = limits or Limits()
    room = find_room()
    if room is None and not has_open_network:
        return RunOutcome("refused")
    folder = Path(tempfile.mkdtemp(prefix="proctor-sandbox-"))
    try:
        # The program may run as another user, who must get in, and write nowhere but here.
        folder.chmod(0o777)
        (folder / "program.py").write_text(program, encoding="utf-8", errors="replace")
        (folder / "input").write_text(stdin, encoding="utf-8", errors="replace")
        worker = folder / "worker.py"
        shutil.copyfile(Path(__file__).with_name(f"{WORKER.rpartition('.')[2]}.py"), worker)
        for path in folder.iterdir():
            path.chmod(0o644)
        # Not the virtual environment's: nothing that is installed is needed.
        python = os.path.realpath(sys.executable)
        command = [*(room or ()), python, "-I", "-S", "-B", str(worker), json.dumps(vars(chosen))]
        return _wait(command, folder, chosen)
    except OSError as error:
        raise ProctorError(
            f"The sandbox cannot be started ({type(error).__name__}). Check free space in {tempfile.gettempdir()}."
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=1)
def find_room() -> tuple[str, ...] | None:
    """The words that begin a command without network on this machine; null where it offers none."""
    for room in _ROOMS if shutil.which("unshare") else ():
        try:
            done = subprocess.run([*room, "true"], capture_output=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return room
    return None


def run_examples(
    program: str, examples: Sequence[tuple[str, str]], *, has_open_network: bool = False
) -> Execution | None:
    """The result of running a program on (input, output) pairs.

    The first pair that is not right decides; the result is None without any pair.
    """
    for stdin, wanted in examples[:_MOST_EXAMPLES]:
        outcome = run_program(program, stdin, has_open_network=has_open_network)
        if outcome.status != "finished":
            return outcome.status
        if outcome.output.split() != wanted.split():
            return "failed"
    return "passed" if examples else None


def run_reference(question: SetQuestion, *, has_open_network: bool) -> Execution | None:
    """What the asker's own program comes to on its own examples."""
    if question.put is None:
        return None
    return run_examples(
        strip_fence(question.put.reference_answer),
        read_examples(question.details),
        has_open_network=has_open_network,
    )


def run_answer(
    question: SetQuestion, answer: GivenAnswer, domain: Domain, *, has_open_network: bool
) -> GivenAnswer:
    """The answer with the result of its program on the question's examples.

    A program that is not in Python is not run.
    """
    keys = [item.key for item in domain.answer if item.column is None]
    language = next((str((answer.reply.value or {}).get(key, "")) for key in keys), "")
    if answer.text is None or not language.strip().casefold().startswith("python"):
        return answer
    execution = run_examples(
        strip_fence(answer.text), read_examples(question.details), has_open_network=has_open_network
    )
    return replace(answer, execution=execution)


def read_examples(details: dict[str, str]) -> list[tuple[str, str]]:
    """(input, output) of the examples that came with a question.

    Those that cannot be read are left out.
    """
    try:
        examples = json.loads(details.get("examples", "[]"))
    except ValueError:
        return []
    return [
        (str(one["input"]), str(one["output"]))
        for one in (examples if isinstance(examples, list) else [])
        if isinstance(one, dict) and "input" in one and "output" in one
    ]


def strip_fence(program: str) -> str:
    """A program without the lines of a Markdown fence around it."""
    lines = program.strip().splitlines()
    if lines and lines[0].startswith("```"):
        lines = lines[1:-1] if lines[-1].startswith("```") else lines[1:]
    return "\n".join(lines) + "\n"


def _wait(command: Sequence[str], folder: Path, limits: Limits) -> RunOutcome:
    with (
        (folder / "input").open("rb") as given,
        (folder / "output").open("wb") as output,
        (folder / "errors").open("wb") as errors,
    ):
        process = subprocess.Popen(
            command, stdin=given, stdout=output, stderr=errors, cwd=folder, env={}, start_new_session=True
        )
        try:
            code = process.wait(limits.wall_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(process)
    if code is None or code in _OVERTIME:
        return RunOutcome("timeout")
    if code:
        said = (folder / "errors").read_bytes()[-2000:]
        return RunOutcome("memory" if b"MemoryError" in said else "error")
    return RunOutcome("finished", (folder / "output").read_bytes().decode("utf-8", "replace"))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what the program left running, too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
