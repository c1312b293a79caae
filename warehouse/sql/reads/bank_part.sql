-- What do the questions of one of several equal parts of the latest bank version hold?
-- One row per question, with what is right; a lineage is in one part.
-- Parameters: $part, $part_count
SELECT bank_version, lineage_uuid, question_uuid, revision, question_type, language, stem, material, options, answer
FROM current_bank
WHERE hash(lineage_uuid) % $part_count::UBIGINT = $part::UBIGINT
