"""What tests of other rooms need of the web beside its face: the form of a request."""

from __future__ import annotations

from deployments.web.references import make_reference as make_reference
from deployments.web.visitor import FORM_HEADER as FORM_HEADER
from deployments.web.visitor import SESSION_COOKIE as SESSION_COOKIE
