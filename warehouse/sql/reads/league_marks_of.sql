-- What was given in a league, to compute its statistics from?
-- One row per score, in a fixed order, so that the same scores give the same draws.
-- Parameters: $league_id
SELECT *
FROM league_marks
WHERE league_id = $league_id
ORDER BY domain, run_type, league_run, round, asker, judge, answerer, score
