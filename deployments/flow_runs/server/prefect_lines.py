"""The lines of a run that ran on another host.

The Prefect server that all hosts use has them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

PAGE = 200


def fetch_run_lines(flow_run_id: str) -> list[dict[str, Any]]:
    """The lines of a run that the server has, oldest first, as our own log has them.

    The server is the one that PREFECT_API_URL names.

    Empty where no server is named; raises ProctorError where it does not answer.
    """
    import httpx

    from schemas.errors import ProctorError

    url = os.environ.get("PREFECT_API_URL")
    if not url:
        return []
    name, _, password = os.environ.get("PREFECT_API_AUTH_STRING", "").partition(":")
    lines: list[dict[str, Any]] = []
    try:
        with httpx.Client(auth=(name, password) if name else None, timeout=30) as client:
            while True:
                asked = {
                    "logs": {"flow_run_id": {"any_": [flow_run_id]}},
                    "sort": "TIMESTAMP_ASC",
                    "offset": len(lines),
                    "limit": PAGE,
                }
                answer = client.post(f"{url}/logs/filter", json=asked)
                answer.raise_for_status()
                found = answer.json()
                lines += [_describe(one) for one in found]
                if len(found) < PAGE:
                    return lines
    except httpx.HTTPError as error:
        raise ProctorError(
            f"The Prefect server at {url} does not give the lines of the run ({type(error).__name__}). Start it, or read the log on the "
            "host that the run ran on."
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
