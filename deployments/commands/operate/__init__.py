"""For whoever runs the installation: set up, start, back up, watch, erase, validate."""
