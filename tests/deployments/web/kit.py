"""Of the web, what tests of other rooms need beside its face: the form of a request.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from deployments.web.references import make_reference
from deployments.web.visitor import FORM_HEADER, SESSION_COOKIE

__all__ = [
    "FORM_HEADER",
    "SESSION_COOKIE",
    "make_reference",
]
