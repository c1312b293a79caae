-- Which responses answer a question that was not put at that place?
-- One row per response; passes when empty.
SELECT responses.session_id, responses.seq, responses.question_uuid
FROM responses
ANTI JOIN allocations
    ON
        allocations.session_id = responses.session_id
        AND allocations.seq = responses.seq
        AND allocations.question_uuid = responses.question_uuid
ORDER BY ALL
