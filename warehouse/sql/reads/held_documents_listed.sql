-- Which papers are held, and why?
-- One row per held document that nobody has released, oldest first.
SELECT document_id, document_name, source_path, question_count, expected_right_rate, reason, ingested_at
FROM held_documents
ORDER BY ingested_at, document_name
