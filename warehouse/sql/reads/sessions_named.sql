-- Whose are these sessions, and which run and month do they belong to?
-- One row per session among $session_ids, by month.
-- Parameters: $session_ids
SELECT sessions.session_id, sessions.run_id, sessions.model, sessions.month
FROM sessions
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON asked.session_id = sessions.session_id
ORDER BY sessions.month, sessions.session_id
