-- In which documents does each question stand?
-- One row per question and document.
SELECT question_uuid, document_id
FROM questions
ORDER BY ALL
