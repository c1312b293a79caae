"""The command line of the simulated model server.

Run `python -m deployments.model_server --profile P.yaml --key key.jsonl --port 0 --ready-file F`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from deployments.model_server.key import build_answer_key
from deployments.model_server.server import LOCAL, serve
from schemas.errors import ProctorError
from schemas.settings import Settings
from warehouse.stores.whole_files import writing_whole

DEFAULT_PROFILE = Path(__file__).parent / "profiles" / "demo.yaml"


def read_bank_key(home: Path) -> bytes:
    """The answer key of a home's newest bank. Raises GateError where there is none."""
    from tasks.exam.month import read_current_bank
    from warehouse.lake import open_lake

    with open_lake(Settings(home=home), read_only=True) as lake:
        return build_answer_key(read_current_bank(lake))


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m deployments.model_server",
        description="An OpenAI-compatible server of simulated models.",
    )
    parser.add_argument(
        "--profile", type=Path, default=DEFAULT_PROFILE, help="the models, and how well they answer (YAML)"
    )
    parser.add_argument(
        "--key", type=Path, help="answer key (JSON lines); without one every question is unknown"
    )
    parser.add_argument(
        "--home", type=Path, help="in the place of a key: a home of Proctor, whose bank is known"
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--host", default=LOCAL)
    parser.add_argument("--ready-file", type=Path, help="written with the address when the server listens")
    parser.add_argument("--batch-folder", type=Path, help="files and batches are kept here over a restart")
    chosen = parser.parse_args(arguments)

    def tell(url: str) -> None:
        sys.stdout.write(f"Simulated models at {url}\n")
        sys.stdout.flush()
        if chosen.ready_file is not None:
            with writing_whole(chosen.ready_file) as draft:
                draft.write_text(url)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        serve(
            chosen.profile,
            chosen.key if chosen.home is None else read_bank_key(chosen.home),
            chosen.port,
            chosen.host,
            when_ready=tell,
            batch_folder=chosen.batch_folder,
        )
    except ProctorError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"Port {chosen.port} on {chosen.host} cannot be used ({error.strerror}).\n")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
