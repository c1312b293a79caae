-- Where in its paper does a question stand, and which original is that?
-- One row per question that was found in this document: its latest revision that came from it.
-- Parameters: $document_id, $question_uuid
SELECT
    d.sha256,
    d.document_name,
    d.media_type,
    d.page_count,
    t.text,
    t.page_offsets,
    t.line_boxes,
    q.text_start,
    q.text_end
FROM questions AS q
INNER JOIN documents AS d ON d.document_id = q.document_id
INNER JOIN document_texts AS t ON t.document_id = q.document_id
WHERE q.document_id = $document_id
    AND q.question_uuid = $question_uuid
ORDER BY q.revision DESC
LIMIT 1
