"""For whoever answers for stars: judging, calibration, drift, labels of errors, publication."""
