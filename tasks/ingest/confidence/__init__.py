"""How sure a reading is: evidence, the fit that weighs it, and what is held whole."""
