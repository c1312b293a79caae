"""What is paid for in the ledger: calls and their replies, budgets, batches at providers, paces."""
