"""The bank: dedupe, bank."""

from __future__ import annotations

import typer

from deployments.commands.options import AsJson, NoServer


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(dedupe)
    app.command()(bank)


def dedupe(no_server: NoServer = False, as_json: AsJson = False) -> None:
    """Find duplicates over the whole bank and publish a new version, if anything changed.

    Example: proctor dedupe
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    result = run_flow("dedupe", without_server=no_server)
    print_result(result, as_json=as_json, then="proctor bank shows what is published")


def bank(as_json: AsJson = False) -> None:
    """What the bank holds: its versions, and the latest one by discipline and type.

    Example: proctor bank
    """
    from deployments.output import print_note, print_result, print_rows
    from schemas.settings import load_settings
    from warehouse.lake.reading import LakeReader

    with LakeReader(load_settings()) as lake:
        versions = lake.read("published_versions")
        counts = lake.read("latest_bank_counts")
    if as_json:
        print_result({"versions": versions.as_records(), "latest": counts.as_records()}, as_json=True)
        return
    print_rows(versions, title="Bank versions")
    print_rows(counts, title="Latest version")
    print_note("Next: proctor exam plan" if versions.rows else "Next: proctor review status")
