"""What the ledger is held to: accounts, approvals, the audit log as it is read, seals, erasures, editions."""
