"""The retention of texts as Prefect sees it, in names and counts: what is due is erased."""

from __future__ import annotations

from schemas.errors import GateError
from schemas.settings import load_settings
from tasks.operations.erasure.erase import erase_texts, finish_erasures
from tasks.operations.erasure.scope import Scope, list_due, read_policy_time
from tasks.running import log
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.logs.chain import name_account
from warehouse.ledger.engine.opening import open_ledger


@step()
def erase_what_is_due() -> dict[str, object]:
    """Finish erasures, then erase what PROCTOR_KEEP_RAW_MONTHS, where set, no longer keeps."""
    settings = load_settings()
    finished = finish_erasures(settings)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        due = list_due(ledger, lake, settings, read_policy_time(ledger, lake, settings))
    result: dict[str, object] = {
        "keep_raw_months": settings.keep_raw_months,
        "due": len(due),
        "finished": len(finished.erasures),
        "erased": 0,
        "answers": 0,
    }
    if due:
        try:
            done = erase_texts(
                settings,
                Scope(run_ids=due),
                reason=f"texts are kept for {settings.keep_raw_months} months (PROCTOR_KEEP_RAW_MONTHS)",
                erased_by=name_account(),
            )
        except GateError as refusal:
            # It waits, as one of several does: what comes after an erasure needs none.
            log.warning("%s", refusal)
            return result | {"finished": len(finished.erasures) + len(finish_erasures(settings).erasures)}
        result |= {
            "erased": len(done.erasures),
            "answers": sum(erasure.answer_count for erasure in done.erasures),
        }
    return result
