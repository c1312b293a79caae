"""Looking at runs, their sessions and answers: what people who watch an exam see, read from the lake and the ledger."""
