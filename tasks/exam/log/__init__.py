"""The audit log as evidence: signed heads, receipts, the check of everything that the log fixes, and its story in words."""
