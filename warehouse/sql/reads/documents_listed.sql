-- Which documents are there, and what became of them?
-- One row per document, oldest first; of one status where $status is given. A held one that was released has the status `released`.
-- Parameters: $status (default null)
SELECT
    documents.document_id,
    documents.document_name,
    document_states.status,
    documents.question_count,
    documents.discipline,
    documents.ingested_at
FROM documents
JOIN document_states ON document_states.document_id = documents.document_id
WHERE document_states.status = coalesce($status::VARCHAR, document_states.status)
ORDER BY documents.ingested_at, documents.document_name
