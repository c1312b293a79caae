-- Where was a question read, and of which original?
-- One row per question that was found in this document: its first revision.
-- Parameters: $document_id, $lineage_uuid
SELECT
    q.landing_unit AS unit,
    q.question_uuid,
    q.position,
    q.text_start,
    q.text_end,
    d.landing_unit AS document_unit,
    d.document_name,
    d.sha256,
    t.landing_unit AS text_unit,
    t.char_count,
    sha256(t.text) AS text_sha256
FROM questions AS q
INNER JOIN documents AS d ON d.document_id = q.document_id
INNER JOIN document_texts AS t ON t.document_id = q.document_id
WHERE q.document_id = $document_id AND q.lineage_uuid = $lineage_uuid
ORDER BY q.revision
LIMIT 1
