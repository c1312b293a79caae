-- Which questions of a document did review accept?
-- One row per question.
-- Parameters: $document_id
SELECT DISTINCT question_uuid
FROM questions
SEMI JOIN (SELECT question_uuid FROM review_decisions WHERE outcome = 'accepted') AS accepted USING (question_uuid)
WHERE document_id = $document_id
ORDER BY question_uuid
