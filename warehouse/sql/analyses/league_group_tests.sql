-- Which candidates of a league can be told apart?
-- One row per league, domain, type of run, unit and pair (Tukey's HSD), with the analysis of variance before it. The unit `score`
-- takes all scores as independent; `answer` takes the mean of each answer over its judges.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full), $unit (default answer)
-- Shown: domain, model_a, model_b, difference, difference_low, difference_high, p_value, is_distinguishable
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT
    p.* EXCLUDE (landing_unit, is_imported, is_simulated),
    v.f,
    v.between_degrees,
    v.within_degrees,
    v.p_value AS anova_p_value,
    p.is_imported,
    p.is_simulated
FROM league_pairs AS p
JOIN league_anova AS v ON
    v.league_id = p.league_id
    AND v.domain = p.domain
    AND v.run_type = p.run_type
    AND v.unit = p.unit
WHERE p.league_id = coalesce($league_id::VARCHAR, p.league_id)
    AND p.domain = coalesce($domain::VARCHAR, p.domain)
    AND p.run_type = $run_type
    AND p.unit = $unit
ORDER BY p.league_id, p.domain, p.p_value DESC, p.model_a, p.model_b
