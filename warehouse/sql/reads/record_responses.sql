-- What did the candidates of a run answer?
-- One row per response, in order of session and position. Erased ones are left out: a record is its text.
-- Parameters: $run_id
SELECT
    responses.session_id,
    responses.seq,
    responses.question_uuid,
    responses.prompt_style,
    responses.response
FROM responses
ANTI JOIN erasures ON erasures.session_id = responses.session_id
WHERE responses.run_id = $run_id
ORDER BY responses.session_id, responses.seq
