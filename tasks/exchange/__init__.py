"""Results from other benchmarks, and editions for other tools."""
