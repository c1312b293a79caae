-- What does the lake hold of one answer?
-- One row per answer: one, or none, with the hash of its text (null where it was erased).
-- Parameters: $session_id, $seq, $month
SELECT landing_unit AS unit, sha256(response) AS answer_hash, answer_status
FROM responses
WHERE month = $month AND session_id = $session_id AND seq = $seq::BIGINT
