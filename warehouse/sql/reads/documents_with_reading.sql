-- Which papers were judged as a whole, and what was seen of their reading?
-- One row per document with a reading, oldest first.
SELECT document_id, document_name, source_path, status, expected_right_rate, reading
FROM documents
WHERE reading IS NOT NULL
ORDER BY ingested_at, document_id
