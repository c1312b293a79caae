"""Forked children of a test: none of them goes on as a second worker."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def start_child(work: Callable[[], object]) -> int:
    """The process of the work, which ends with it.

    It ends with 0, or with 1 and the error where the work failed.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child
