-- Which papers wait for somebody to look at how they are divided?
-- One row per paper that is held, and per paper of which text was read and no question found, oldest first.
SELECT
    documents.document_id,
    documents.document_name,
    documents.source_path,
    document_states.status,
    documents.question_count,
    documents.expected_right_rate,
    documents.error AS reason
FROM documents
JOIN document_states ON document_states.document_id = documents.document_id
WHERE
    document_states.status = 'held'
    OR (
        document_states.status = 'no_questions'
        AND documents.document_id IN (SELECT document_id FROM document_texts WHERE char_count > 0)
    )
ORDER BY documents.ingested_at, documents.document_name
