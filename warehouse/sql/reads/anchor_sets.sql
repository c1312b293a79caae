-- Which responses are judged again every month?
-- One row per anchor response, the set drawn last at the end.
SELECT * EXCLUDE (landing_unit)
FROM anchor_responses
ORDER BY drawn_at, anchor_set, session_id, seq
