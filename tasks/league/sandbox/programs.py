"""Run a candidate's program where it can reach nothing but its input.

What it does not protect against: a program can use a processor until its time is over, and a fault of the kernel is a way
out. Give Proctor a machine of its own where that matters. Off unless a league is told to run code.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from schemas.errors import ProctorError
from tasks.league.sandbox.rooms import ROOMS, TRIAL, WORK, Interpreter, Room, find_interpreter
from tasks.league.sandbox.system_calls import build_filter

if TYPE_CHECKING:
    from tasks.league.domain import Domain
    from tasks.league.rounds import GivenAnswer
    from tasks.league.setting import SetQuestion

Execution = Literal["passed", "failed", "error", "timeout", "memory", "refused"]

# Read as a file and copied: nothing of Proctor is imported in the room.
WORKER = "tasks.league.sandbox.worker"
_MOST_EXAMPLES = 5
# What a program ends with when its processor time is over: by its own word, or killed, with and without a program around it.
_OVERTIME = (99, -signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU, 128 + signal.SIGKILL)


@dataclass(frozen=True)
class Limits:
    """What one program may use.

    Attributes:
        wall_s: seconds until it is ended whatever it does.
        memory_mb: address space, in MiB.
        file_mb: size of any file that it writes, its output included, and of all files in its folder together, in MiB.
    """

    cpu_s: int = 5
    wall_s: float = 10.0
    memory_mb: int = 512
    file_mb: int = 8
    file_count: int = 32


@dataclass(frozen=True)
class RunOutcome:
    """What became of a program: `finished` with its output, or why it has none."""

    status: Literal["finished", "error", "timeout", "memory", "refused"]
    output: str = ""


def run_program(
    program: str,
    stdin: str,
    limits: Limits | None = None,
    *,
    room: Room | None = None,
    interpreter: Interpreter | None = None,
) -> RunOutcome:
    """Run a Python program on an input, in `room` or the first that holds on this machine.

    Where none holds the program is refused: it is never run in a weaker one. Raises ProctorError when a room that held
    before cannot be made.
    """
    room = room or find_room()
    if room is None:
        return RunOutcome("refused")
    chosen, interpreter = limits or Limits(), interpreter or find_interpreter()
    folder = Path(tempfile.mkdtemp(prefix="proctor-sandbox-"))
    try:
        (folder / "program.py").write_text(program, encoding="utf-8", errors="replace")
        (folder / "input").write_text(stdin, encoding="utf-8", errors="replace")
        (folder / "filter").write_bytes(build_filter())
        shutil.copyfile(find_worker(), folder / "worker.py")
        return _wait(room(interpreter, folder, vars(chosen)), folder, chosen)
    except OSError as error:
        raise ProctorError(
            f"The sandbox cannot be started ({type(error).__name__}). Check free space in {tempfile.gettempdir()}."
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_worker() -> Path:
    """The file that is run in a room."""
    return Path(__file__).with_name(f"{WORKER.rpartition('.')[2]}.py")


@lru_cache(maxsize=1)
def find_room() -> Room | None:
    """The first kind of room that holds a program which tries to get out; None without any."""
    return next((room for room in ROOMS if does_hold(room, find_interpreter())), None)


def does_hold(room: Room, interpreter: Interpreter) -> bool:
    """Whether a program in that room reaches neither network, nor files, nor another process."""
    try:
        readable = "|".join([*interpreter.reads, WORK])
        tried = run_program(TRIAL, readable, room=room, interpreter=interpreter)
    except ProctorError:
        return False
    return tried == RunOutcome("finished", "held\n")


def run_examples(program: str, examples: Sequence[tuple[str, str]]) -> Execution | None:
    """The first result that is not right of a program on (input, output) pairs; None without."""
    for stdin, wanted in examples[:_MOST_EXAMPLES]:
        outcome = run_program(program, stdin)
        if outcome.status != "finished":
            return outcome.status
        if outcome.output.split() != wanted.split():
            return "failed"
    return "passed" if examples else None


def run_reference(question: SetQuestion) -> Execution | None:
    """What the asker's own program comes to on its own examples."""
    if question.put is None:
        return None
    return run_examples(strip_fence(question.put.reference_answer), read_examples(question.details))


def run_answer(question: SetQuestion, answer: GivenAnswer, domain: Domain) -> GivenAnswer:
    """The answer with the result of its Python program on the question's examples."""
    keys = [item.key for item in domain.answer if item.column is None]
    language = next((str((answer.reply.value or {}).get(key, "")) for key in keys), "")
    if answer.text is None or not language.strip().casefold().startswith("python"):
        return answer
    execution = run_examples(strip_fence(answer.text), read_examples(question.details))
    return replace(answer, execution=execution)


def read_examples(details: dict[str, str]) -> list[tuple[str, str]]:
    """(input, output) of the examples with a question; those that cannot be read are left out."""
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
        (folder / "ready").open("wb") as ready,
    ):
        process = subprocess.Popen(
            [*command, str(ready.fileno())],
            stdin=given,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env={},
            start_new_session=True,
            pass_fds=[ready.fileno()],
        )
        try:
            code = process.wait(limits.wall_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(process)
    said = (folder / "errors").read_bytes()[-2000:]
    # What goes wrong before the program has begun is this machine's fault, and says nothing about the program.
    if not (folder / "ready").stat().st_size:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ProctorError(f"The sandbox could not be made: {last or 'it did not answer in time'}.")
    if code is None or code in _OVERTIME:
        return RunOutcome("timeout")
    if code:
        return RunOutcome("memory" if b"MemoryError" in said else "error")
    return RunOutcome("finished", (folder / "output").read_bytes().decode("utf-8", "replace"))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what the program left running, too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
