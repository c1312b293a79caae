-- How has each candidate's score moved since its first month?
-- One row per candidate per month. Months without a session have no row: nothing is carried forward. score_change is against
-- the candidate's previous month, with its 95% interval; where that holds 0, the score may not have moved at all.
-- Parameters: $through_month (default null), $simulated (default null)
-- Shown: month, model, score, score_change, score_change_low, score_change_high, rank
-- Marks of: month
-- No rows: nothing was published: `proctor monthly` examines, judges and publishes a month.
SELECT * EXCLUDE (is_repetition, is_shown_by_default)
FROM score_changes
WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    AND ($through_month::VARCHAR IS NULL OR month <= $through_month)
ORDER BY is_simulated, model, month
