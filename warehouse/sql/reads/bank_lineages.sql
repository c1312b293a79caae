-- What do the questions of these lineages hold, as they stand in the latest bank version?
-- One row per question, with what is right.
-- Parameters: $lineage_uuids
SELECT bank_version, lineage_uuid, question_uuid, revision, question_type, language, stem, material, options, answer, pictures
FROM current_bank
WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[]))
