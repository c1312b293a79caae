"""For whoever scores generated text."""
