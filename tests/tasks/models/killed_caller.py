"""`python -m tests.tasks.models.killed_caller LEDGER_URL SERVER_URL COUNT`, by test_kill.py."""

from __future__ import annotations

import sys

from tests.tasks.models.simulation import call_all, make_model, make_request
from warehouse.ledger.engine.opening import open_ledger


def main() -> None:
    """Make the calls, four at a time, until somebody kills this process."""
    address, url, count = sys.argv[1:]
    with open_ledger(address) as ledger:
        model = make_model(max_concurrency=4)
        call_all(ledger, url, [make_request(number) for number in range(int(count))], model)


if __name__ == "__main__":
    main()
