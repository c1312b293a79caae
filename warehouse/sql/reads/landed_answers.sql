-- What was extracted of the answers of these sessions?
-- One row per response of $session_ids that landed in $month.
-- Parameters: $month, $session_ids
SELECT session_id, seq, answer
FROM responses
WHERE month = $month AND list_contains($session_ids, session_id)
