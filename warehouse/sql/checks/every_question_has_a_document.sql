-- Which questions name a document that was never landed?
-- One row per question and document; passes when empty.
SELECT questions.question_uuid, questions.revision, questions.document_id
FROM questions
ANTI JOIN documents ON documents.document_id = questions.document_id
ORDER BY ALL
