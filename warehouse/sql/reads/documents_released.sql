-- Which of these documents did somebody release, and why?
-- One row per released document among $document_ids.
-- Parameters: $document_ids
SELECT document_id, released_by, reason, released_at
FROM document_releases
WHERE list_contains($document_ids, document_id)
ORDER BY document_id
