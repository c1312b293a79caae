-- Which of these documents need not be read again?
-- One row per document among $hashes (SHA-256) whose status is not one that passes ($transient: a timeout, a missing program).
-- Parameters: $hashes, $transient
SELECT sha256
FROM documents
WHERE list_contains($hashes, sha256)
    AND NOT list_contains($transient, status)
