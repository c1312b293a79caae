-- Which questions has no closed batch settled yet?
-- One row per question, in the order of the papers; of a question found in two documents the first counts. One that a batch
-- left undecided is here again. A paper that is held has none here. Whether a question lies in an open batch is the ledger's
-- knowledge.
SELECT * EXCLUDE (landing_unit)
FROM questions
ANTI JOIN held_documents ON held_documents.document_id = questions.document_id
WHERE question_uuid NOT IN (SELECT question_uuid FROM review_decisions WHERE outcome <> 'undecided')
QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY document_name, position) = 1
ORDER BY document_name, position
