-- Which sessions count in an edition?
-- One row per complete session, by candidate, style and repeat, with the month in which it was sat.
-- Parameters: $edition_id, $month
SELECT s.session_id, s.sat_in_run_id, r.month AS sat_in_month, s.set_id, s.model, s.organisation, s.prompt_style, s.repeat
FROM edition_sessions AS s
JOIN runs AS r ON r.run_id = s.sat_in_run_id
WHERE s.edition_id = $edition_id AND s.month = $month AND s.is_complete
ORDER BY s.model, s.prompt_style, s.session_id
