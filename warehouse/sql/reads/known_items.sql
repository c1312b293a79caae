-- What was published last of these questions, in some editions of one scale?
-- One row per question that was published in any of them. What was estimated of a question before it was corrected, up to the bank
-- version that is asked for, is of another question.
-- Parameters: $question_uuids, $edition_ids, $bank_version
SELECT
    i.question_uuid,
    i.edition_id,
    i.difficulty,
    i.difficulty_se,
    i.discrimination,
    i.discrimination_se,
    i.error_correlation
FROM edition_items AS i
JOIN editions AS e ON e.edition_id = i.edition_id
ANTI JOIN question_corrections AS c
    ON c.question_uuid = i.question_uuid AND e.bank_version < c.since_version AND c.since_version <= $bank_version
WHERE i.question_uuid IN (SELECT unnest($question_uuids))
    AND i.edition_id IN (SELECT unnest($edition_ids))
QUALIFY row_number() OVER (PARTITION BY i.question_uuid ORDER BY e.month DESC, e.planned_at DESC, e.revision DESC) = 1
ORDER BY i.question_uuid
