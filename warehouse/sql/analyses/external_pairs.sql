-- Which scores stand behind a correlation with another benchmark?
-- One row per benchmark and candidate that both scored, who has no S left out: S of one month next to the benchmark's latest score.
-- Parameters: $month (default null), $simulated (default null)
-- Marks of: month
-- No rows: no candidate of the month has published scores of another benchmark: `proctor import external FILE --benchmark NAME --source WHERE`.
WITH shown AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
)

SELECT
    e.benchmark,
    s.model,
    s.month,
    s.score,
    max_by(e.score, e.scored_on) AS external_score,
    max(e.scored_on) AS scored_on,
    s.is_simulated
FROM shown AS s
JOIN external_scores AS e ON e.model = s.model
WHERE s.score IS NOT NULL AND s.month = coalesce($month::VARCHAR, (
    SELECT max(month) FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
))
GROUP BY e.benchmark, s.model, s.month, s.score, s.is_simulated
ORDER BY e.benchmark, s.score DESC, s.model
