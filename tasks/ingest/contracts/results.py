"""What a contract found: whether it could be checked, and what breaks it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts import Breach


@dataclass
class ContractCheck:
    """The breaches of one contract.

    `checked`: the paper says, or shows, something that this contract holds it to. `missing` counts the questions that a
    breach says were not found. `doubted` are the questions that a breach concerns, `notes` the reasons in their
    `parse_notes`.
    """

    checked: bool = False
    breaches: list[Breach] = field(default_factory=list)
    missing: int = 0
    doubted: list[Draft] = field(default_factory=list)
    notes: list[tuple[Draft, str]] = field(default_factory=list)

    def doubt(self, draft: Draft, note: str = "") -> None:
        """Let a question be one that this contract doubts, for a reason where it has a code."""
        self.doubted.append(draft)
        if note:
            self.notes.append((draft, note))
