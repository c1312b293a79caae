-- How many questions has no closed batch settled yet?
-- One row per home: as many as `unreviewed_questions` has, and no text is read for it.
SELECT count(DISTINCT question_uuid) AS question_count
FROM questions
ANTI JOIN held_documents ON held_documents.document_id = questions.document_id
WHERE question_uuid NOT IN (SELECT question_uuid FROM review_decisions WHERE outcome <> 'undecided')
