-- Which leagues are there?
-- One row per league, or only the named one.
-- Parameters: $league_id (default null)
SELECT * EXCLUDE (landing_unit)
FROM leagues
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
ORDER BY created_at, league_id
