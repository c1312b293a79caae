"""Types and marks that a platform prints at the end of a stem: `…？多选题 (10 分)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.words.lexicon import match_type_name

_TAG = re.compile(
    r"\s*[（(\[【]?(?P<name>[\u4e00-\u9fff]{2,5})\s*[（(,，]\s*(?P<marks>\d{1,3}(?:\.\d)?)\s*分\s*[)）\]】]?(?:\s*\d{1,3}\s*分)?\s*$"
)
# That many questions end so, and so large a share of them, where it is a tag.
_LEAST, _SHARE = 3, 0.5


def cut_trailing_tags(drafts: Sequence[Draft]) -> None:
    """Take the tags off the stems of a paper of which most questions end with one."""
    found = [
        (draft, match, fine)
        for draft in drafts
        if (match := _TAG.search(draft.stem[-40:])) is not None
        and (fine := match_type_name(match["name"])) is not None
    ]
    if len(found) < max(_LEAST, _SHARE * len(drafts)):
        return
    for draft, match, fine in found:
        draft.stem = draft.stem[: len(draft.stem) - len(match.group(0))].rstrip()
        draft.fine = draft.fine or fine
        draft.marks = draft.marks if draft.marks is not None else float(match["marks"])
