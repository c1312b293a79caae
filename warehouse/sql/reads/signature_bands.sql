-- In which bands do the entries of the bank lie?
-- One row per entry that is compared by more than its key.
-- Parameters: $algorithm
SELECT question_uuid, lineage_uuid, from_version, bands
FROM question_signatures
WHERE algorithm = $algorithm AND bands IS NOT NULL
