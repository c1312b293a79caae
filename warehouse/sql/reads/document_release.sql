-- Was a document released, by whom and why?
-- One row where it was.
-- Parameters: $document_id
SELECT released_by, reason, released_at
FROM document_releases
WHERE document_id = $document_id
