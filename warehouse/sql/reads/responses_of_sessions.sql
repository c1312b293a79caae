-- What was answered in these sessions?
-- One row per response, in order of session and position.
-- Parameters: $session_ids
SELECT * EXCLUDE (landing_unit)
FROM responses
WHERE list_contains($session_ids, session_id)
ORDER BY session_id, seq
