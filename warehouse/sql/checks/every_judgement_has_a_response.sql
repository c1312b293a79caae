-- Which judgements are about a response that is not there?
-- One row per judgement; passes when empty.
SELECT judgements.session_id, judgements.seq, judgements.question_uuid, judgements.judge
FROM judgements
ANTI JOIN responses
    ON
        responses.session_id = judgements.session_id
        AND responses.seq = judgements.seq
        AND responses.question_uuid = judgements.question_uuid
ORDER BY ALL
