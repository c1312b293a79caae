-- What do the questions of the latest bank version ask, in short?
-- One row per question, in order of question.
SELECT bank_version, question_uuid, lineage_uuid, method, stem
FROM current_bank
ORDER BY question_uuid
