"""Final answers of calculations: found, put in standard form, compared."""
