-- What was answered to one question of a session?
-- One row per answer: one, or none.
-- Parameters: $session_id, $seq, $month
SELECT response, reasoning, answer, answer_status, finish_reason, input_tokens, output_tokens, cost_usd, latency_ms, attempts, error
FROM responses
WHERE month = $month AND session_id = $session_id AND seq = $seq::BIGINT
