-- In which documents do these questions stand, and which questions stand in these documents?
-- One row per question and document. has_other_key as in `question_occurrences.sql`.
-- Parameters: $question_uuids, $document_units
WITH standing AS (
    SELECT question_uuid, document_id, question_type, answer
    FROM questions
    WHERE
        question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
        OR landing_unit IN (SELECT unnest($document_units::VARCHAR[]))
),

accepted AS (
    SELECT question_uuid, arg_max(answer, (decided_at, batch_id)) AS answer
    FROM review_decisions
    WHERE outcome = 'accepted' AND question_uuid IN (SELECT standing.question_uuid FROM standing)
    GROUP BY question_uuid
)

SELECT
    standing.question_uuid,
    standing.document_id,
    coalesce(bool_or(
        standing.question_type IN ('multiple_choice', 'true_false')
        AND len(standing.answer) > 0
        AND standing.answer <> accepted.answer
    ), false) AS has_other_key
FROM standing
LEFT JOIN accepted ON accepted.question_uuid = standing.question_uuid
GROUP BY standing.question_uuid, standing.document_id
ORDER BY ALL
