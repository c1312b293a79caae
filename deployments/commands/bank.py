"""Variants and the bank: augment, dedupe, bank."""

from __future__ import annotations

import typer

from deployments.commands.options import AsJson


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(augment)
    app.command()(dedupe)
    app.command()(bank)


def augment(as_json: AsJson = False) -> None:
    """Make true/false variants of every accepted question that has none yet; part of the review gate's flow.

    Example: proctor augment
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    print_result(run_flow("augment"), as_json=as_json)


def dedupe(as_json: AsJson = False) -> None:
    """Find duplicates over the whole bank and publish a new version, if anything changed.

    Example: proctor dedupe
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    print_result(run_flow("dedupe"), as_json=as_json)


def bank(as_json: AsJson = False) -> None:
    """What the bank holds: its versions, and the latest one by discipline and type.

    Example: proctor bank
    """
    from deployments.output import print_frame, print_result
    from schemas.settings import load_settings
    from warehouse.lake.store import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        versions = lake.read("published_versions")
        counts = lake.read("latest_bank_counts")
    if as_json:
        print_result({"versions": versions.to_dicts(), "latest": counts.to_dicts()}, as_json=True)
        return
    print_frame(versions, title="Bank versions")
    print_frame(counts, title="Latest version")
