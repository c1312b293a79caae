"""Prefect's server as one of the stores: waited for while it is away, and kept in step with the ledger's runs."""
