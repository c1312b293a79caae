-- Of which types are the questions of a document?
-- One row per type with its count.
-- Parameters: $document_id
SELECT question_type, count(*) AS question_count
FROM questions
WHERE document_id = $document_id
GROUP BY question_type
ORDER BY question_type
