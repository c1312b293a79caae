"""For whoever lets models examine each other."""
