"""A month's run that one flow conducts and other workers help with."""
