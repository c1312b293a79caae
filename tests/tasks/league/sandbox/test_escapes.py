"""Programs that try to get out of the sandbox, by each kind of room, as root and as a user."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ProctorError
from tasks.league.sandbox.programs import Limits, find_worker, run_program
from tasks.league.sandbox.rooms import ROOMS, Room

pytestmark = pytest.mark.slow
LIMITS = Limits(cpu_s=20, wall_s=300)
SECRET = "the key of the exam"
# A Python that every user may read, as on a server.
SYSTEM_PYTHON = "/usr/bin/python3"
ORDINARY = 64321
# Each is run by itself; whoever gets somewhere says so. `lib` is the C library, `call` a system call by its number on this processor.
ESCAPES = {
    "reads the machine's secret": "print(open(SECRET).read())",
    "reads it by the way up": "print(open('../' * 20 + SECRET).read())",
    "lists the machine's homes": "print(os.listdir('/home'), os.listdir(HOME))",
    "reads the passwords": "print(open('/etc/passwd').read(), open('/etc/shadow').read())",
    "reads the environment of another": "print(open('/proc/1/environ').read())",
    "reads its own state": "print(open('/proc/self/status').read())",
    "reaches the root by a process": "print(os.listdir('/proc/1/root'))",
    "links to the secret": "os.symlink(SECRET, 'link'); print(open('link').read())",
    "hard-links to it": "os.link(SECRET, 'link'); print(open('link').read())",
    "opens by a handle": "call('open_by_handle_at', 3, None, 0)",
    "connects to this machine": "socket.create_connection(('127.0.0.1', PORT), 1)",
    "connects to the network": "socket.create_connection(('192.0.2.1', 80), 1)",
    "asks a name server": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "opens a raw socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "talks to the kernel": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "uses a socket of the machine": "socket.socket(socket.AF_UNIX).connect(SOCKET)",
    "makes a pair of sockets": "socket.socketpair()",
    "starts a program": "os.execv('/usr/bin/env', ['env'])",
    "starts Python again": "os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])",
    "starts a program from memory": "os.execve(os.memfd_create('x'), ['x'], {})",
    "starts a process": "os.fork() or os._exit(0)",
    "starts a process otherwise": "import subprocess; subprocess.run(['true'])",
    "leaves its session": "os.setsid()",
    "makes a namespace": "check(lib.unshare(0x10000000))",
    "enters a namespace": "check(lib.setns(0, 0))",
    "mounts": "check(lib.mount(b'none', b'/work', b'tmpfs', 0, None))",
    "unmounts": "check(lib.umount2(b'/work', 2))",
    "changes its root": "os.chroot('/work')",
    "becomes root": "os.setuid(0)",
    "makes a program that is root's": "open('p', 'w').close(); os.chmod('p', 0o4755)",
    "makes a device": "os.mknod('disk', 0o60666, os.makedev(8, 0))",
    "traces a process": "check(lib.ptrace(16, 1, 0, 0))",
    "reads the memory of another": "check(lib.process_vm_readv(1, None, 0, None, 0, 0))",
    "asks for keys": "call('keyctl', 0, -3, 0)",
    "loads a program into the kernel": "call('bpf', 0, None, 0)",
    "uses a ring of calls": "call('io_uring_setup', 1, None)",
    "watches the processor": "call('perf_event_open', None, 0, -1, -1, 0)",
    "types into the terminal": "import fcntl; fcntl.ioctl(0, 0x5412, b'x')",
    "writes to Python's library": "open(os.__file__, 'a').write('x')",
    "writes beside its folder": "open('/outside', 'w')",
    "takes its filter off": "check(lib.prctl(22, 0, 0, 0, 0))",
    "raises its limits": "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "ends other processes": "import signal; os.kill(os.getppid() or TEST, signal.SIGKILL)",
    "sets the clock": "import time; time.clock_settime(time.CLOCK_REALTIME, 0)",
    "names the machine": "socket.sethostname('mine')",
}  # fmt: skip
REFUSALS = {"PermissionError", "FileNotFoundError", "ProcessLookupError", "OSError", "ValueError"}
START = """
import ctypes, os, socket, sys
lib = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"open_by_handle_at": 304, "keyctl": 250, "bpf": 321, "io_uring_setup": 425, "perf_event_open": 298},
    "aarch64": {"open_by_handle_at": 265, "keyctl": 219, "bpf": 280, "io_uring_setup": 425, "perf_event_open": 241},
}
def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def call(name, *arguments):
    check(lib.syscall(NUMBERS[os.uname().machine][name], *arguments))
"""
TRIED = """
escaped, refused = [], []
for name, text in json.loads(input()).items():
    try:
        exec(text)
    except Exception as error:
        refused.append([name, type(error).__name__, getattr(error, "errno", None)])
    else:
        escaped.append(name)
print(json.dumps({"escaped": escaped, "refused": refused, "user": os.getuid()}))
"""


@pytest.fixture(scope="module")
def outside() -> Iterator[dict[str, Any]]:
    """What there is to reach: a secret that everybody may read, a socket of the machine, a port."""
    folder = Path(tempfile.mkdtemp(prefix="outside-", dir="/var/tmp"))
    folder.chmod(0o755)
    secret = folder / "secret"
    secret.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        yield {
            "SECRET": str(secret),
            "SOCKET": str(folder / "socket"),
            "HOME": str(Path.home()),
            "TEST": os.getpid(),
            "PORT": server.getsockname()[1],
        }
    shutil.rmtree(folder)


def write_program(outside: dict[str, Any]) -> str:
    given = "".join(f"{name} = {value!r}\n" for name, value in outside.items())
    return f"import json\n{START}{given}{TRIED}"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_nobody_gets_out(room: Room, outside: dict[str, Any]) -> None:
    try:
        done = run_program(write_program(outside), json.dumps(ESCAPES), LIMITS, room=room)
    except ProctorError as error:
        pytest.skip(f"this machine offers no such room ({error})")
    assert done.status == "finished"
    check_refused(done.output, user={65534 if os.geteuid() == 0 else os.geteuid(), 0})


def check_refused(output: str, user: set[int]) -> None:
    """Nothing got anywhere, and by the room's refusal, not for a mistake of the test's own."""
    found = json.loads(output)
    assert (found["escaped"], len(found["refused"])) == ([], len(ESCAPES))
    assert {kind for _, kind, _ in found["refused"]} <= REFUSALS
    assert found["user"] in user


# All is read as root; then it is an ordinary user's process.
AS_USER = """
import json, os, sys
from pathlib import Path
from tasks.league.sandbox import programs, rooms, system_calls
interpreter = rooms.find_interpreter(sys.argv[1])
system_calls.build_filter()
given = json.loads(sys.stdin.read())
programs.find_worker = lambda: Path(sys.argv[3])
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
limits = programs.Limits(cpu_s=20, wall_s=300)
ran = {room: programs.run_program(*given, limits, room=room, interpreter=interpreter) for room in rooms.ROOMS}
print(json.dumps({room.__name__: vars(done) for room, done in ran.items()}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"no {SYSTEM_PYTHON}, which every user may run")
def test_nobody_gets_out_where_an_ordinary_user_runs_it(outside: dict[str, Any]) -> None:
    worker = Path(outside["SECRET"]).with_name("worker.py")
    shutil.copyfile(find_worker(), worker)
    done = subprocess.run(
        [sys.executable, "-c", AS_USER, SYSTEM_PYTHON, str(ORDINARY), str(worker)],
        input=json.dumps([write_program(outside), json.dumps(ESCAPES)]),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[4],
    )
    if "The sandbox could not be made" in done.stderr:
        pytest.skip("ordinary users may make no namespaces here")
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)
    assert set(ran) == {room.__name__ for room in ROOMS}
    for one in ran.values():
        assert one["status"] == "finished"
        check_refused(one["output"], user={0, ORDINARY})
