"""Who is told when a run has failed."""
