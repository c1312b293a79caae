from __future__ import annotations

import importlib
import logging.config
import sys
from pathlib import Path

from tests.conftest import let_go_of_output
from tests.shared import find_shared_folder
from tests.warm import WarmProcess


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
