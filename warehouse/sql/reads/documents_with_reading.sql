-- Which papers were judged by the fit, and what was seen of their reading?
-- One row per document with a reading, oldest first; those that a model read, too, are judged by how far the two agree.
SELECT document_id, document_name, source_path, status, expected_right_rate, reading
FROM documents
WHERE reading IS NOT NULL AND NOT starts_with(confidence_version, 'two-readings')
ORDER BY ingested_at, document_id
