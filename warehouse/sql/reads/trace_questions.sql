-- What do the questions ask that are or were in the bank?
-- One row per question, as it stood when it entered last; in order of question.
SELECT question_uuid, lineage_uuid, discipline, stem, material, options
FROM bank_entries
QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY from_version DESC, revision DESC) = 1
ORDER BY question_uuid
