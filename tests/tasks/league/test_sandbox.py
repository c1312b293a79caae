from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from tasks.league import sandbox
from tasks.league.sandbox import Limits, find_room, run_examples, run_program, strip_fence

SHORT = Limits(cpu_s=1, wall_s=3)
needs_room = pytest.mark.skipif(find_room() is None, reason="this machine offers no room without network")


def run(program: str, stdin: str = "", limits: Limits = SHORT) -> sandbox.RunOutcome:
    return run_program(program, stdin, limits, has_open_network=True)


def test_a_program_reads_its_input_and_writes_its_output() -> None:
    assert run("import math\nprint(math.isqrt(int(input())))", "50") == sandbox.RunOutcome("finished", "7\n")


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(60)", "timeout"),
        ("x = bytearray(2 * 10**9)", "memory"),
        ("open('big', 'wb').write(bytes(50 * 1024 * 1024))", "error"),
        ("print('x' * (50 * 1024 * 1024))", "error"),
        ("files = [open('program.py') for _ in range(100)]", "error"),
        ("import os\nfor _ in range(200): os.fork() or __import__('time').sleep(30)", "error"),
        ("raise SystemExit(3)", "error"),
        ("this is no program", "error"),
    ],
    ids=["processor", "clock", "memory", "file", "output", "open files", "processes", "exit code", "syntax"],
)
def test_what_goes_beyond_a_limit_is_ended(program: str, status: str) -> None:
    assert run(program).status == status


@needs_room
def test_a_program_reaches_no_network_not_even_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)\nprint('reached')"
        assert run(program).status == "error"


@needs_room
def test_what_a_program_leaves_running_ends_with_it(tmp_path: Path) -> None:
    mark = f"left-{os.getpid()}-{threading.get_ident()}"
    program = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    sys.argv[0] = {mark!r}\n"
        f"    open('/tmp/{mark}', 'w')\n"
        "    time.sleep(2)\n"
        f"    open('/tmp/{mark}-late', 'w')\n"
        "    os._exit(0)\n"
        "time.sleep(0.5)\n"
    )
    run(program, limits=Limits(cpu_s=1, wall_s=5))
    import time

    time.sleep(2.5)
    left = Path(f"/tmp/{mark}-late").exists()
    for path in (Path(f"/tmp/{mark}"), Path(f"/tmp/{mark}-late")):
        path.unlink(missing_ok=True)
    assert not left


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives its rights up")
def test_as_root_a_program_runs_as_nobody() -> None:
    assert run("import os; print(os.getuid())").output == "65534\n"


def test_where_no_room_is_without_network_a_program_is_refused_unless_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "find_room", lambda: None)
    assert run_program("print(1)", "").status == "refused"
    assert run_program("print(1)", "", has_open_network=True).output == "1\n"


def test_secrets_of_the_environment_do_not_reach_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_TEST_KEY", "very secret")
    assert "secret" not in run("import os; print(dict(os.environ))").output


def test_examples_decide_and_the_first_that_is_wrong_says_so() -> None:
    double = "print(2 * int(input()))"
    assert run_examples(double, [("1", "2"), ("3", " 6 \n")], has_open_network=True) == "passed"
    assert run_examples(double, [("1", "2"), ("3", "7")], has_open_network=True) == "failed"
    assert run_examples("1/0", [("1", "2")], has_open_network=True) == "error"
    assert run_examples(double, []) is None


def test_a_fence_around_a_program_is_no_part_of_it() -> None:
    assert strip_fence("```python\nprint(1)\n```") == "print(1)\n"
    assert strip_fence("print(1)") == "print(1)\n"
