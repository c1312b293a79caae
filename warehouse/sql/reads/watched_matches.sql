-- In which answers of a candidate in a run, or in their questions, does a text stand?
-- One row per response, whatever the case of the letters.
-- Parameters: $run_id, $month, $model, $text
SELECT r.session_id, r.seq
FROM responses AS r
WHERE r.run_id = $run_id
    AND r.month = $month
    AND r.model = $model
    AND (
        contains(lower(r.response), lower($text))
        OR r.question_uuid IN (
            SELECT question_uuid
            FROM bank_contents
            WHERE contains(lower(concat_ws(' ', stem, material)), lower($text))
        )
    )
