-- What was answered in these sessions?
-- One row per response, in order of session and position. $months are those of the sessions: no other month is read.
-- Parameters: $session_ids, $months
SELECT responses.* EXCLUDE (landing_unit)
FROM responses
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON asked.session_id = responses.session_id
WHERE list_contains($months::VARCHAR[], responses.month)
ORDER BY session_id, seq
