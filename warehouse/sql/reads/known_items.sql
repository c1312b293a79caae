-- What was published last of these questions, in some editions of one scale?
-- One row per question that was published in any of them.
-- Parameters: $question_uuids, $edition_ids
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
WHERE i.question_uuid IN (SELECT unnest($question_uuids)) AND i.edition_id IN (SELECT unnest($edition_ids))
QUALIFY row_number() OVER (PARTITION BY i.question_uuid ORDER BY e.month DESC, e.planned_at DESC, e.revision DESC) = 1
ORDER BY i.question_uuid
