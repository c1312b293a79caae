"""For whoever prepares questions: from a paper to the bank."""
