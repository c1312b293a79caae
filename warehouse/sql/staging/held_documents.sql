-- Which papers are held whole, so that nothing of them is reviewed, and why?
-- One row per document whose reading was not good enough and that nobody has released.
SELECT
    documents.document_id,
    documents.document_name,
    documents.source_path,
    documents.question_count,
    documents.expected_right_rate,
    documents.error AS reason,
    documents.ingested_at
FROM documents
JOIN document_states ON document_states.document_id = documents.document_id
WHERE document_states.status = 'held'
