-- How do the candidates of a league stand?
-- One row per league, domain, type of run and candidate, best first: its score with two 95% intervals (over single scores, as
-- is usual, and over answers, which is honest where several judges score one answer), how it varies over runs, and what others
-- got on its questions (lower is harder). Made by `proctor league report LEAGUE`.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default null)
-- Shown: domain, rank, model, score, answer_low, answer_high, run_sd_100, setting_score, void_count
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT * EXCLUDE (landing_unit)
FROM league_scores
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = coalesce($run_type::VARCHAR, run_type)
ORDER BY league_id, domain, run_type, rank NULLS LAST, model
