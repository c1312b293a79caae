"""The warnings and notes about what was perhaps not read that others look for."""

from __future__ import annotations

# A warning about losses: the summary of an ingest shows it.
NOT_READ = "Not read: "
# Pictures that were refused, and why: the summary shows it too.
NOT_KEPT = "Not kept: "
