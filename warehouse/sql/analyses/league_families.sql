-- Do judges of a league favour their own family?
-- One row per league, domain, type of run, family and unit. Only `excess` and `answer_excess` tell favour from better answers: they
-- take from each score what judges outside both families gave to the same answer. p is for one family alone.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, family, unit, in_mean, out_mean, difference, difference_low, difference_high, p_value
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT * EXCLUDE (landing_unit)
FROM league_family_bias
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
ORDER BY league_id, domain, family, unit
