-- What was read of a paper: its row, its text, and where its pages begin?
-- One row per document (this one), none for one that gave no text.
-- Parameters: $document_id
SELECT documents.* EXCLUDE (landing_unit), document_texts.text, document_texts.page_offsets, document_texts.line_boxes
FROM documents
JOIN document_texts ON document_texts.document_id = documents.document_id
WHERE documents.document_id = $document_id
