"""Whether an installation signed receipts, and its audit log still has what they state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from schemas.errors import UsageError
from tasks.exam.log.signing.keys import describe_receipt, is_signed
from warehouse.ledger.engine.ledger import Connection
from warehouse.ledger.trust import access


class CheckedReceipt(NamedTuple):
    """A receipt and `good`, `signature_wrong`, `entry_missing`, `entry_differs` or `unsigned`."""

    session_id: str
    seq: int
    entry: int
    finding: str


def read_receipts(path: Path, session_id: str = "") -> Iterator[dict[str, Any]]:
    """The receipts in a file: one JSON object, a list of them, or one on each line.

    Each stands alone, or as `receipt` of a reply. `session_id` is that of receipts that do not name theirs.
    Raises UsageError for what is no receipt.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({type(error).__name__}).") from None
    if not (values := _parse(text, path)):
        raise UsageError(f"{path} holds no receipt.")
    for place, found in enumerate(values, start=1):
        body = found.get("receipt", found) if isinstance(found, dict) else None
        if not isinstance(body, dict):
            raise UsageError(f"{path}, receipt {place}: this is no receipt.")
        named = body.get("session_id") or found.get("session_id") or session_id
        fields = {"session_id": named, **{name: body.get(name) for name in ("seq", "entry", "head")}}
        fields |= {"answer_sha256": body.get("answer_sha256"), "signature": body.get("signature")}
        is_whole = isinstance(fields["seq"], int) and isinstance(fields["entry"], int)
        if not is_whole or not all(isinstance(fields[name], str) for name in ("answer_sha256", "head")):
            raise UsageError(
                f"{path}, receipt {place}: a receipt has seq, answer_sha256, entry, head and signature."
            )
        if not named:
            raise UsageError(f"{path}, receipt {place} names no session: give it with --session.")
        yield fields


def check_receipt(
    receipt: Mapping[str, Any], public_key: str, connection: Connection | None = None
) -> CheckedReceipt:
    """Check the signature of a receipt and, where a ledger is given, the entry that it names."""
    session_id, seq, entry = receipt["session_id"], receipt["seq"], receipt["entry"]
    signed = describe_receipt(session_id, seq, receipt["answer_sha256"], entry, receipt["head"])
    finding = "good"
    if receipt["signature"] is None:
        finding = "unsigned"
    elif not is_signed(public_key, receipt["signature"], signed):
        finding = "signature_wrong"
    elif connection is not None:
        found = access.read_entry(connection, entry)
        said = (session_id, seq, receipt["answer_sha256"], receipt["head"])
        if found is None:
            finding = "entry_missing"
        elif (found.session_id, found.seq, found.answer_hash, found.entry_hash) != said:
            finding = "entry_differs"
    return CheckedReceipt(session_id, seq, entry, finding)


def _parse(text: str, path: Path) -> list[Any]:
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise UsageError(f"{path} holds no JSON, neither whole nor line by line.") from None
