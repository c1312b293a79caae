-- What are the normal forms of these questions?
-- One row per entry of the bank.
-- Parameters: $algorithm, $question_uuids
SELECT
    question_uuid,
    lineage_uuid,
    from_version,
    question_type,
    normal_text,
    normal_options,
    normal_answers
FROM question_signatures
WHERE algorithm = $algorithm AND question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
