-- Which of these sessions were erased, and when?
-- One row per session that was.
-- Parameters: $session_ids
SELECT erasures.session_id, erasures.erased_at
FROM erasures
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON asked.session_id = erasures.session_id
ORDER BY erasures.session_id
