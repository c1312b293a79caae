"""The call behind a judgement: named again from what the judge was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import ProctorError
from schemas.settings import Settings
from tasks.judging.judge import PutResponse, name_call
from tasks.judging.landing import read_put_responses
from tasks.models.registry import read_registry

if TYPE_CHECKING:
    from warehouse.lake import Lake


class CallFinder:
    """Names the calls of one session's judgements; responses and registry are read once."""

    def __init__(self, lake: Lake, settings: Settings, session_id: str, month: str) -> None:
        self._settings = settings
        self._put: dict[int, PutResponse] = {}
        try:
            self._models = read_registry(settings.registry_path).models
            rows = read_put_responses(lake, [session_id], [month])
        except ProctorError:
            # Erased, or without a registry: the call is then known by its reply alone.
            self._models = {}
        else:
            self._put = {int(row["seq"]): PutResponse.from_row(row) for row in rows.iter_rows(named=True)}

    def find(self, seq: int, judge: str, occasion: str, attempt: int) -> str | None:
        """The key of the call; null where the judge is registered no more, or the text is gone."""
        put, model = self._put.get(seq), self._models.get(judge)
        if put is None or model is None:
            return None
        try:
            return name_call(model, put, occasion, attempt, self._settings.archive_dir)
        except ProctorError:
            return None

    def read_stars(self, judge: str, text: str) -> int | None:
        """What a reply says, read by the judge's kind; of one that is registered no more, by ours."""
        from tasks.judging.kinds import JUDGES

        model = self._models.get(judge)
        return JUDGES.find("stars" if model is None else model.judge_kind).parse_reply(text).stars
