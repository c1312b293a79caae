-- Which judgements are about a response that is not there?
-- One row per judgement; passes when empty. Null is every month; both are of one month.
-- Parameters: $month (default null)
SELECT judgements.session_id, judgements.seq, judgements.question_uuid, judgements.judge
FROM judgements
ANTI JOIN responses
    ON
        responses.month = judgements.month
        AND responses.session_id = judgements.session_id
        AND responses.seq = judgements.seq
        AND responses.question_uuid = judgements.question_uuid
WHERE $month::VARCHAR IS NULL OR judgements.month = $month
ORDER BY ALL
