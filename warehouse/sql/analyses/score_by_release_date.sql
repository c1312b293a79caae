-- How do scores rise with the release date?
-- One row per candidate with a known release date: its latest month with a score. is_best_so_far marks candidates that
-- beat everything released before them. The curve through the points is fitted by tasks/statistics/curve.py.
-- Parameters: $through_month (default null), $simulated (default null)
-- Marks of: month
-- No rows: no published candidate has a release date: write `release_date` in models.yaml, then `proctor monthly`.
WITH latest AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
        AND release_date IS NOT NULL
        AND score IS NOT NULL
        AND ($through_month::VARCHAR IS NULL OR month <= $through_month)
    QUALIFY row_number() OVER (PARTITION BY model, is_simulated ORDER BY month DESC) = 1
)

SELECT
    release_date,
    model,
    organisation,
    family,
    is_open,
    month,
    score,
    score_sd,
    relative_score,
    -- What differs in the last bits only is equal.
    coalesce(round(score, 9) > max(round(score, 9)) OVER (
        PARTITION BY is_simulated ORDER BY release_date
        RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 DAY PRECEDING
    ), TRUE) AS is_best_so_far,
    is_provisional,
    is_simulated
FROM latest
ORDER BY release_date, model
