-- Which documents are there, and what became of them?
-- One row per document, oldest first; of one status where $status is given.
-- Parameters: $status (default null)
SELECT document_id, document_name, status, question_count, discipline, ingested_at
FROM documents
WHERE status = coalesce($status::VARCHAR, status)
ORDER BY ingested_at, document_name
