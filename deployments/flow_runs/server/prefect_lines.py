"""The lines of a run that ran on another host.

The Prefect server that all hosts use has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deployments.flow_runs.server.named_server import read_named_server
from schemas.errors import ProctorError

PAGE = 200


def fetch_run_lines(flow_run_id: str) -> list[dict[str, Any]]:
    """The lines of a run that the server has, oldest first, as our own log has them.

    The server is the one that PREFECT_API_URL names.

    Empty where no server is named; raises ProctorError where it does not answer.
    """
    server = read_named_server()
    if server is None:
        return []
    lines: list[dict[str, Any]] = []
    try:
        while True:
            found = server.ask(
                "logs/filter",
                {
                    "logs": {"flow_run_id": {"any_": [flow_run_id]}},
                    "sort": "TIMESTAMP_ASC",
                    "offset": len(lines),
                    "limit": PAGE,
                },
            )
            lines += [_describe(one) for one in found]
            if len(found) < PAGE:
                return lines
    except (OSError, ValueError) as error:
        raise ProctorError(
            f"The Prefect server at {server.shown} does not give the lines of the run ({type(error).__name__}). Start it, or read "
            "the log on the host that the run ran on."
        ) from None


def _describe(log: Mapping[str, Any]) -> dict[str, Any]:
    import logging

    return {
        "at": log["timestamp"],
        "level": logging.getLevelName(log["level"]).lower(),
        "part": log["name"],
        "event": log["message"],
        "flow_run_id": log["flow_run_id"],
    }
