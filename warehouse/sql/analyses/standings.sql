-- Where do all candidates stand now, those that did not sit this month included?
-- One row per candidate, best first: the month it last sat, and how its score compares with those of the latest month
-- (comparability: same_edition, anchors, same_reference, or none, which has no rank).
-- Parameters: $simulated (default null)
-- Shown: rank, model, standing_score, standing_low, standing_high, sat_month, comparability
-- Marks of: edition_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
SELECT * EXCLUDE (is_shown_by_default)
FROM current_standings
WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
ORDER BY is_simulated, rank NULLS LAST, model
