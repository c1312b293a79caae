"""Of the exam, what tests of other rooms need beside its face."""

from __future__ import annotations

from tasks.exam.closed.closing import set_deadlines
from tasks.exam.closed.landing import land_run
from tasks.exam.closed.sources import note_sources, read_sound_sources
from tasks.exam.doors import HttpDoor
from tasks.exam.log.check import check_ledger
from tasks.exam.practice.room import mark_answer, read_questions
from tasks.exam.public.hashing import follow_path, make_path
from tasks.exam.public.verifier import verify, weigh
from tasks.exam.sitting import sit_sessions

__all__ = [
    "HttpDoor",
    "check_ledger",
    "follow_path",
    "land_run",
    "make_path",
    "mark_answer",
    "note_sources",
    "read_questions",
    "read_sound_sources",
    "set_deadlines",
    "sit_sessions",
    "verify",
    "weigh",
]
