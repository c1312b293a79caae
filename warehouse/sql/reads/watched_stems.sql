-- How do these questions begin?
-- One row per question, by its last revision. No answer is read.
-- Parameters: $question_uuids
SELECT question_uuid, arg_max(left(stem, 240), from_version) AS excerpt
FROM bank_contents
WHERE list_contains($question_uuids::VARCHAR[], question_uuid)
GROUP BY question_uuid
