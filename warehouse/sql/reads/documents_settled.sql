-- Which documents need not be read again?
-- One row per document whose status is not one that passes ($transient: a timeout, a missing program).
-- Parameters: $transient
SELECT sha256
FROM documents
WHERE NOT list_contains($transient, status)
