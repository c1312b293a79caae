-- What do the evaluations of each candidate add up to in each run of a league?
-- One row per domain, run and answerer with a score.
-- Parameters: $league_id, $run_type
SELECT
    domain,
    league_run,
    answerer,
    sum(score ORDER BY score) AS score_sum,
    count(score) AS evaluation_count
FROM league_evaluations
WHERE league_id = $league_id AND run_type = $run_type AND score IS NOT NULL
GROUP BY domain, league_run, answerer
ORDER BY domain, league_run, answerer
