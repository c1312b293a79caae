"""The blocks of a question become its fields: options, keys, answers, notes."""
