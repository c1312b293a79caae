-- Which leagues are there, and by what rules do they play?
-- One row per league, the oldest first.
-- Parameters: $league_id (default null)
SELECT * EXCLUDE (landing_unit)
FROM leagues
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
ORDER BY created_at, league_id
