-- What was answered to one question of a session?
-- One row per answer: one, or none.
-- erased_at: when its texts were erased; null where they were not.
-- Parameters: $session_id, $seq, $month
SELECT
    response,
    reasoning,
    answer,
    answer_status,
    finish_reason,
    input_tokens,
    output_tokens,
    cost_usd,
    latency_ms,
    attempts,
    error,
    (SELECT erasures.erased_at FROM erasures WHERE erasures.session_id = $session_id) AS erased_at
FROM responses
WHERE month = $month AND session_id = $session_id AND seq = $seq::BIGINT
