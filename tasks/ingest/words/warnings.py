"""How the warnings of a document begin that others look for."""

from __future__ import annotations

# A warning about losses: the summary of an ingest shows it.
NOT_READ = "Not read: "
