-- What came of each source paper, and was a held one released since?
-- One row per document. Status: as landed (`parsed`, `held`, `no_questions`, …), or `released` for a held paper that somebody let go on.
SELECT
    documents.document_id,
    CASE
        WHEN documents.status = 'held' AND document_releases.document_id IS NOT NULL THEN 'released'
        ELSE documents.status
    END AS status
FROM documents
LEFT JOIN document_releases ON document_releases.document_id = documents.document_id
