-- How many comparisons of a league would have given the same order?
-- One row per league, domain, type of run, method and share of the comparisons: the rank correlation with the order by score over the
-- samples, and how many of them give exactly that order.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, method, share, game_count, spearman, spearman_low, spearman_high, same_order_rate
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT * EXCLUDE (landing_unit)
FROM league_replays
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
ORDER BY league_id, domain, method, share
