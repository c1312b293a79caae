-- Where do all candidates stand now, those that did not sit this month included?
-- One row per candidate, best first: the month it last sat, and how its score compares with those of the latest month.
-- Parameters: $simulated (default null)
-- Shown: rank, model, standing_score, sat_month, comparability, score
SELECT * EXCLUDE (is_shown_by_default)
FROM current_standings
WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
ORDER BY is_simulated, rank NULLS LAST, model
