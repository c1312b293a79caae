-- How do these answers begin?
-- One row per response among $keys, which are `session position`; their sessions lie between the first and the last by name, so that
-- only the parts of the month that hold them are read.
-- Parameters: $first_session_id, $last_session_id, $keys, $month
SELECT session_id, seq, left(response, 240) AS excerpt
FROM responses
WHERE month = $month
    AND session_id BETWEEN $first_session_id AND $last_session_id
    AND list_contains($keys::VARCHAR[], session_id || ' ' || seq)
