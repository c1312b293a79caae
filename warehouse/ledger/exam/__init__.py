"""The exam in the ledger: plans, sets, sessions and their seats, deadlines, answers, tokens."""
