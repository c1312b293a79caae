-- Where do all candidates stand now, those that did not sit this month included?
-- One row per candidate, best first: the month it last sat, and how its score compares with those of the latest month
-- (comparability: same_edition, anchors, same_reference, or none, which has no rank).
-- Parameters: $simulated (default null)
-- Shown: rank, model, standing_score, standing_low, standing_high, sat_month, comparability
-- Marks of: edition_id
-- No rows: nothing was published: `proctor monthly` examines, judges and publishes a month.
SELECT s.* EXCLUDE (is_shown_by_default), coalesce(g.grade, 'self-attested') AS grade
FROM current_standings AS s
LEFT JOIN edition_grades AS g ON g.edition_id = s.edition_id
WHERE coalesce($simulated::BOOLEAN OR NOT s.is_simulated, s.is_shown_by_default)
ORDER BY s.is_simulated, s.rank NULLS LAST, s.model
