-- What did the candidates of a run answer?
-- One row per response, in order of session and position.
-- Parameters: $run_id
SELECT
    session_id,
    seq,
    question_uuid,
    prompt_style,
    response
FROM responses
WHERE run_id = $run_id
ORDER BY session_id, seq
