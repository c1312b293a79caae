"""The public log as Prefect sees it: sealed, given to witnesses; names and numbers alone."""

from __future__ import annotations

from schemas.errors import FlowError
from schemas.settings import load_settings
from tasks.exam.public.log.retirement import publish_rejections
from tasks.exam.public.log.witnesses import read_witnesses, seal_public_log
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step(name="note_rejections", **RETRIED)
def note_rejections() -> dict[str, object]:
    """Note in the public log how many questions of the bank review has rejected, by version."""
    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        counts = dict(lake.read("rejected_exits").iter_rows())
    if not counts:
        return {"noted_versions": 0}
    with open_ledger(settings.ledger_address) as ledger:
        return {"noted_versions": publish_rejections(ledger, settings, counts)}


@step(name="seal_public_log", **RETRIED)
def seal_log() -> dict[str, object]:
    """Sign the head of the public log for the witnesses; FlowError where one was not told."""
    settings = load_settings()
    witnesses = read_witnesses(settings.witnesses, settings)
    with open_ledger(settings.ledger_address) as ledger:
        seal = seal_public_log(ledger, settings, witnesses)
    outcomes = [told.outcome for told in seal.told]
    result: dict[str, object] = {
        "number": 0 if seal.head is None else seal.head.number,
        "given": outcomes.count("given"),
        "known": outcomes.count("known"),
    }
    if seal.failures:
        named = "; ".join(f"{told.witness}: {told.reason}" for told in seal.failures)
        raise FlowError(
            f"{len(seal.failures)} of {len(seal.told)} witnesses have no head of entry {result['number']}: {named}.",
            result,
        )
    return result
