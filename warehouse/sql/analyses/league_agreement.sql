-- Does a league rank as the exam does, and do those who solve best set the hardest questions?
-- One row per league, domain, type of run, what its scores are compared with, and method. `setting`: what others got on the own
-- questions, so that a negative correlation says that good solvers set hard ones. `exam`: the standing in the exam.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, compared_with, method, correlation, correlation_low, correlation_high, p_value, candidate_count
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT * EXCLUDE (landing_unit)
FROM league_correlations
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
ORDER BY league_id, domain, compared_with, method DESC
