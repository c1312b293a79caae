-- How do these answers begin?
-- One row per response among $keys, which are `session position`; their sessions lie between the first and the last by name, so that
-- only the parts of the month that hold them are read. erased_at: when its texts were erased; null where they were not.
-- Parameters: $first_session_id, $last_session_id, $keys, $month
SELECT responses.session_id, responses.seq, left(responses.response, 240) AS excerpt, erasures.erased_at
FROM responses
LEFT JOIN erasures ON erasures.session_id = responses.session_id
WHERE responses.month = $month
    AND responses.session_id BETWEEN $first_session_id AND $last_session_id
    AND list_contains($keys::VARCHAR[], responses.session_id || ' ' || responses.seq)
