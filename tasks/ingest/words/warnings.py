"""The warnings and notes about what was perhaps not read that others look for."""

from __future__ import annotations

# A warning about losses: the summary of an ingest shows it.
NOT_READ = "Not read: "
