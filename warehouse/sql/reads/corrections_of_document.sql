-- How often was a paper corrected, and how?
-- One row per correction, the first one first.
-- Parameters: $document_id
SELECT marked_lines, corrected_by, corrected_at
FROM layouts
WHERE document_id = $document_id
ORDER BY corrected_at
