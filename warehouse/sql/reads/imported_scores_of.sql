-- Which scores did files give for a league that was made elsewhere?
-- One row per score.
-- Parameters: $league_id
SELECT domain, run_type, source, league_run, round, asker, judge, answerer, most_points
FROM imported_league_scores
WHERE league_id = $league_id
ORDER BY domain, run_type, source, place
