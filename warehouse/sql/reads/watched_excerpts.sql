-- How do these answers begin?
-- One row per response among $keys, which are `session position`.
-- Parameters: $session_ids, $keys, $month
SELECT session_id, seq, left(response, 240) AS excerpt
FROM responses
WHERE month = $month AND list_contains($session_ids::VARCHAR[], session_id) AND list_contains($keys::VARCHAR[], session_id || ' ' || seq)
