-- Which responses answer a question that was not put at that place?
-- One row per response; passes when empty. Null is every month; both are of one month.
-- Parameters: $month (default null)
SELECT responses.session_id, responses.seq, responses.question_uuid
FROM responses
ANTI JOIN allocations
    ON
        allocations.month = responses.month
        AND allocations.session_id = responses.session_id
        AND allocations.seq = responses.seq
        AND allocations.question_uuid = responses.question_uuid
WHERE $month::VARCHAR IS NULL OR responses.month = $month
ORDER BY ALL
