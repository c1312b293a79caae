"""Child processes in which papers are read, and their limits."""
