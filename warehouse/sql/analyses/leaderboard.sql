-- How do the candidates stand in one month?
-- One row per candidate, best first. Simulated candidates are left out as soon as there is a real one, unless asked for.
-- Parameters: $month (default null), $simulated (default null)
-- A null month is the latest; $simulated true adds simulated candidates, false leaves them out in any case.
-- Shown: rank, model, score, score_sd, relative_score, month
WITH shown AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
)

SELECT * EXCLUDE (is_shown_by_default)
FROM shown
WHERE month = coalesce($month::VARCHAR, (SELECT max(month) FROM shown))
ORDER BY is_simulated, rank, model
