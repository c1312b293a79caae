"""A month's look at the judges, as the flow has it."""

from __future__ import annotations

import asyncio

from schemas.settings import Settings
from tasks.judging.calibration.anchors import DriftSummary, estimate_watch, read_sets, watch_judges
from tasks.models.registry import read_registry
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

__all__ = ["estimate_watch", "read_sets", "watch", "watch_judges"]


def watch(ledger: Ledger, lake: Lake, settings: Settings, month: str) -> DriftSummary:
    registry = read_registry(settings.registry_path)
    return asyncio.run(watch_judges(ledger, lake, settings, registry, month))
