-- How does each candidate of a league do on each other's questions?
-- One row per league, domain, type of run, asker and answerer: the mean score over all judges, runs and rounds. Where nobody knows who
-- asked there is no row.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, asker, answerer, score, score_count, void_count
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
SELECT
    league_id,
    domain,
    run_type,
    asker,
    answerer,
    avg(score ORDER BY score) AS score,
    count(score) AS score_count,
    count(*) - count(score) AS void_count,
    any_value(most_points) AS most_points,
    any_value(is_imported) AS is_imported,
    any_value(is_simulated) AS is_simulated
FROM league_marks
WHERE asker IS NOT NULL
    AND league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
GROUP BY league_id, domain, run_type, asker, answerer
ORDER BY league_id, domain, asker, answerer
