"""Review in the ledger: batches and their assignments, gold questions, annotators, the web desk."""
