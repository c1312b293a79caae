-- Which documents have this name, or an id that begins so?
-- One row per document whose file name is $name or whose id starts with it, oldest first.
-- Parameters: $name
SELECT * EXCLUDE (landing_unit)
FROM documents
WHERE document_name = $name OR starts_with(document_id, lower($name))
ORDER BY ingested_at, document_id
