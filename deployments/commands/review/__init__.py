"""For whoever coordinates annotators."""
