-- Which top-k overlaps did a file give for a league, without the lists behind them?
-- One row per domain, type of run, run and k.
-- Parameters: $league_id
SELECT domain, run_type, source, run_name, k, overlap
FROM imported_league_overlaps
WHERE league_id = $league_id
ORDER BY domain, run_type, source, run_name, k
