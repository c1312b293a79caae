-- Where do candidates stand in the exam?
-- One row per candidate that has a rank, real or simulated as asked for.
-- Parameters: $is_simulated
SELECT model, standing_score
FROM current_standings
WHERE is_simulated = $is_simulated AND rank IS NOT NULL
ORDER BY rank, model
