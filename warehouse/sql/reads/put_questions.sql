-- What do these questions say in a version of the bank?
-- One row per question that the version has.
-- Parameters: $question_uuids, $bank_version
SELECT *
FROM bank
WHERE bank_version = $bank_version AND list_contains($question_uuids::VARCHAR[], question_uuid)
