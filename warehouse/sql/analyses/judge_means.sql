-- Which judge is strict, which is generous, and towards whom?
-- One row per month, judge and candidate: mean stars over what the judge could be read on. mean_gap is the distance to the
-- mean of all judges on the same candidate and month. Stars given by rule (attempt 0) and versions of the prompt that
-- do not count (run_judges) are left out.
-- Parameters: $month (default null)
-- A null month gives all months.
-- Frozen in order of: month, model, judge, is_simulated
-- No rows: nothing was judged: `proctor judge --run RUN`.
WITH means AS (
    SELECT
        month,
        judge,
        model,
        avg(stars) AS mean_stars,
        count(stars) AS judged_count,
        count(*) - count(stars) AS unparsed_count,
        is_simulated
    FROM counted_judgements
    WHERE attempt > 0 AND ($month::VARCHAR IS NULL OR month = $month)
    GROUP BY month, judge, model, is_simulated
)

SELECT
    *,
    mean_stars - avg(mean_stars) OVER candidates AS mean_gap
FROM means
-- In one order, as a sum of fractions changes its last digit with it.
WINDOW candidates AS (
    PARTITION BY month, model, is_simulated ORDER BY judge ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
)
ORDER BY month, model, judge, is_simulated
