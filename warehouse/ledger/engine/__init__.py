"""What every part of the ledger stands on: connections, transactions, tables, the two logs, clock, leases, backups."""
