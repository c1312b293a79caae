from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemas.errors import ProctorError
from tasks.league.sandbox import programs
from tasks.league.sandbox.programs import (
    Limits,
    RunOutcome,
    does_hold,
    find_room,
    run_examples,
    run_program,
    strip_fence,
)
from tasks.league.sandbox.rooms import Interpreter, find_interpreter, use_namespaces

pytestmark = pytest.mark.usefixtures("room")
# Of the clock there is enough on a busy machine: where it decides, the test says so.
SHORT = Limits(cpu_s=1, wall_s=120)


def run(program: str, stdin: str = "", limits: Limits = SHORT) -> RunOutcome:
    return run_program(program, stdin, limits)


def test_a_program_reads_its_input_and_writes_its_output() -> None:
    assert run("import math\nprint(math.isqrt(int(input())))", "50") == RunOutcome("finished", "7\n")


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(60)", "timeout"),
        ("x = bytearray(2 * 10**9)", "memory"),
        ("open('big', 'wb').write(bytes(50 * 1024 * 1024))", "error"),
        ("print('x' * (50 * 1024 * 1024))", "error"),
        ("files = [open('program.py') for _ in range(100)]", "error"),
        ("for number in range(9): open(f'{number}', 'wb').write(bytes(2**20))", "error"),
        ("raise SystemExit(3)", "error"),
        ("this is no program", "error"),
    ],
    ids=["processor", "clock", "memory", "file", "output", "open files", "files", "exit code", "syntax"],
)
def test_what_goes_beyond_a_limit_is_ended(program: str, status: str) -> None:
    assert run(program, limits=Limits(cpu_s=1, wall_s=5 if "sleep(60)" in program else 120)).status == status


def test_where_no_room_holds_a_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find_room", lambda: None)
    assert run_program("print(1)", "").status == "refused"


def test_a_room_that_does_not_hold_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_no_room(interpreter: Interpreter, folder: Path, limits: Mapping[str, object]) -> list[str]:
        """All of the machine, without network."""
        return ["unshare", "--net", *use_namespaces(interpreter, folder, limits)[-6:-1], plain(limits)]

    def plain(limits: Mapping[str, object]) -> str:
        return json.dumps({**limits, "is_root": os.geteuid() == 0})

    assert not does_hold(is_no_room, find_interpreter())
    monkeypatch.setattr(programs, "ROOMS", (is_no_room,))
    find_room.cache_clear()
    try:
        assert find_room() is None
    finally:
        find_room.cache_clear()


def test_a_room_that_cannot_be_made_is_no_fault_of_the_program() -> None:
    broken = Interpreter(find_interpreter().path, ("/etc/no-such-file",), ())
    with pytest.raises(ProctorError, match=r"could not be made: .*No such file"):
        run_program("print(1)", "", room=use_namespaces, interpreter=broken)


def test_secrets_of_the_environment_do_not_reach_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_TEST_KEY", "very secret")
    assert "secret" not in run("import os; print(dict(os.environ))").output


def test_examples_decide_and_the_first_that_is_wrong_says_so() -> None:
    double = "print(2 * int(input()))"
    assert run_examples(double, [("1", "2"), ("3", " 6 \n")]) == "passed"
    assert run_examples(double, [("1", "2"), ("3", "7")]) == "failed"
    assert run_examples("1/0", [("1", "2")]) == "error"
    assert run_examples(double, []) is None


def test_a_fence_around_a_program_is_no_part_of_it() -> None:
    assert strip_fence("```python\nprint(1)\n```") == "print(1)\n"
    assert strip_fence("print(1)") == "print(1)\n"
