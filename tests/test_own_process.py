from __future__ import annotations

import importlib
import logging.config
import sys
from pathlib import Path

from tests.conftest import let_go_of_output


def test_setting_up_logging_does_not_close_what_captures_the_output_of_tests(tmp_path: Path) -> None:
    handler = importlib.import_module("absl.logging").get_absl_handler().python_handler
    with (tmp_path / "captured").open("w") as captured:
        handler.setStream(captured)
        let_go_of_output()
        logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})

        assert not captured.closed
    assert handler.stream is sys.__stderr__
