-- What do the questions of the latest bank version hold?
-- One row per question, with what is right, in no order.
SELECT bank_version, lineage_uuid, question_uuid, revision, question_type, language, stem, material, options, answer, pictures
FROM current_bank
