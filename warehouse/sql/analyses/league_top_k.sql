-- How far do the judges of a league put the same candidates on top?
-- One row per league, domain, type of run and k: the overlap of two judges' top k with its interval over rounds and over runs,
-- beside what judges would overlap that order at random. Lists miss the judge's own answer, so chance is high.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, k, overlap, overlap_low, overlap_high, chance, above_chance, round_count
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT * EXCLUDE (landing_unit)
FROM league_consistency
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
ORDER BY league_id, domain, k
