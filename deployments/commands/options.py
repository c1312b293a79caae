"""Options that several commands share, so that they read and behave alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deployments.command_line.printing import print_note
from schemas.errors import UsageError
from tasks.running import choose_month

if TYPE_CHECKING:
    from deployments.http import Listening

# What Excel and WPS put before the name of a workbook that is open.
_OPEN_MARK = "~$"
NoServer = Annotated[
    bool, typer.Option("--no-server", help="Run the flow here as plain Python, without a Prefect server.")
]
Month = Annotated[str, typer.Option("--month", help="Month of the run, YYYY-MM. Default: this month.")]
Run = Annotated[str, typer.Option("--run", help="The run. Default: the run of the month.")]
AnyRun = Annotated[str, typer.Option("--run", help="Only this run. Default: every run.")]


@dataclass(frozen=True)
class ServingOptions:
    """Where a server listens beside its port, and who stands before it."""

    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; put TLS in front of anything else.")
    ] = "127.0.0.1"
    certificate: Annotated[str, typer.Option("--certificate", help="TLS certificate (PEM).")] = ""
    certificate_key: Annotated[str, typer.Option("--certificate-key", help="Its key (PEM).")] = ""
    proxy: Annotated[
        str, typer.Option("--proxy", help="Address of the TLS proxy before it, which names the callers.")
    ] = ""
    metrics: Annotated[
        int | None,
        typer.Option(
            "--metrics", min=1, max=65535, help="Port of 127.0.0.1 on which Prometheus reads how calls went."
        ),
    ] = None

    def listen(self, port: int) -> Listening:
        """Where to listen, at that port; raises UsageError for a file that is not there."""
        from deployments.http import Listening

        listening = Listening(
            self.host,
            port,
            self.certificate or None,
            self.certificate_key or None,
            self.proxy or None,
            self.metrics,
        )
        listening.check_files()
        if listening.is_readable:
            print_note(
                f"Warning: {self.host} is open to other machines, and without TLS passwords and questions can be read on their way: "
                "give --certificate and --certificate-key, or --proxy."
            )
        return listening


def read_month(text: str, option: str = "--month") -> str:
    """Check a month, or take the present one; raises UsageError that names the option."""
    return choose_month(text, option)


def list_workbooks(paths: Sequence[Path]) -> list[Path]:
    """The workbooks meant, a folder's included, but for open ones' traces; UsageError for none."""
    found: list[Path] = []
    for path in paths:
        inside = [path] if not path.is_dir() else sorted(path.glob("*.xlsx"))
        found += [one for one in inside if not one.name.startswith(_OPEN_MARK)]
        if path.is_dir() and not any(one.parent == path for one in found):
            raise UsageError(
                f"There is no workbook (*.xlsx) in the folder {path}. Name the files, or their folder."
            )
    if not found:
        raise UsageError(
            f"{paths[0]} is no workbook: a spreadsheet program puts it beside the one that is open in it. Name that one."
        )
    return found


def find_open_workbooks(paths: Sequence[Path]) -> list[Path]:
    """Those workbooks that are open in a spreadsheet program, by what it puts beside them."""
    return [path for path in paths if path.with_name(f"{_OPEN_MARK}{path.name}").exists()]


def split_names(text: str) -> list[str] | None:
    """The names in a list with commas; None when there are none."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names or None
