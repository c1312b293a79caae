-- Which pictures does this document hold that no other document has?
-- One row per picture.
-- Parameters: $document_id
SELECT sha256
FROM pictures
GROUP BY sha256
HAVING bool_and(document_id = $document_id)
ORDER BY sha256
