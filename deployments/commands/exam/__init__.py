"""For whoever examines: models, users, keys, plans, sittings, sealed draws, the audit log."""
