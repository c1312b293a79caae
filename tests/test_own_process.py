from __future__ import annotations

import importlib
import logging.config
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.conftest import let_go_of_output
from tests.shared import find_shared_folder
from tests.warm import ROOT, WarmProcess

# Like one that loses a Ctrl-C in what it is loading.
DEAF = """
import os, signal, sys, time
from tests.warm import _end_with
_end_with(int(sys.argv[1]), os.getpid())
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("it waits", flush=True)
time.sleep(600)
"""


def test_setting_up_logging_does_not_close_what_captures_the_output_of_tests(tmp_path: Path) -> None:
    handler = importlib.import_module("absl.logging").get_absl_handler().python_handler
    with (tmp_path / "captured").open("w") as captured:
        handler.setStream(captured)
        let_go_of_output()
        logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})

        assert not captured.closed
    assert handler.stream is sys.__stderr__


def test_what_a_warm_process_notes_lies_in_the_folder_of_the_run() -> None:
    process = WarmProcess(["true"])

    assert process.wait() == 0
    assert Path(process._noted).parent == find_shared_folder()


def test_a_server_ends_with_whoever_started_it_though_ctrl_c_reached_both() -> None:
    with (
        subprocess.Popen(["sleep", "600"]) as owner,
        subprocess.Popen(
            [sys.executable, "-c", DEAF, str(owner.pid)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as server,
    ):
        assert server.stdout is not None
        server.stdout.readline()
        os.killpg(server.pid, signal.SIGINT)
        owner.kill()
        try:
            assert server.wait(30) == -signal.SIGTERM
        finally:
            server.kill()
