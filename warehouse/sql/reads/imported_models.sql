-- Which models have marks or responses in an import?
-- One row per model.
-- Parameters: $import_id
SELECT DISTINCT model
FROM imported_marks
WHERE import_id = $import_id
ORDER BY model
