"""What tests of other rooms need of the web beside its face: the form of a request."""

from __future__ import annotations

from deployments.web.references import make_reference
from deployments.web.visitor import FORM_HEADER, SESSION_COOKIE

__all__ = ["FORM_HEADER", "SESSION_COOKIE", "make_reference"]
