-- Where do candidates stand in the exam?
-- One row per candidate that has a score, real or simulated as asked for.
-- Parameters: $is_simulated
SELECT model, rank, standing_score, score, score_low, score_high, sat_month
FROM current_standings
WHERE is_simulated = $is_simulated AND rank IS NOT NULL
ORDER BY rank, model
