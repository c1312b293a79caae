-- In which months were the sessions of an edition sat?
-- One row per month.
-- Parameters: $edition_id
SELECT DISTINCT r.month
FROM edition_sessions AS s
JOIN runs AS r ON r.run_id = s.sat_in_run_id
WHERE s.edition_id = $edition_id
ORDER BY r.month
