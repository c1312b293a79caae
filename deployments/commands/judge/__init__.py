"""For whoever answers for stars: judging, calibration, drift, errors, publication."""
