-- How far do the judges agree with each other on the same responses?
-- One row per pair of judges and month. kappa is Cohen's, unweighted, over stars 0 to 3; null when chance agreement is
-- complete. Each judge by the version of its prompt that counts (run_judges). Unparsed judgements and stars given by rule
-- (attempt 0) are left out.
-- Parameters: $month (default null)
-- A null month gives all months.
-- Frozen in order of: month, judge_a, judge_b, is_simulated
-- No rows: no two judges have judged the same responses: register a second judge, then `proctor judge --run RUN`.
WITH pairs AS (
    SELECT a.month, a.judge AS judge_a, b.judge AS judge_b, a.stars AS stars_a, b.stars AS stars_b, a.is_simulated
    FROM counted_judgements AS a
    JOIN counted_judgements AS b ON b.month = a.month AND b.session_id = a.session_id AND b.seq = a.seq AND b.judge > a.judge
    WHERE a.attempt > 0
        AND b.attempt > 0
        AND a.stars IS NOT NULL
        AND b.stars IS NOT NULL
        AND ($month::VARCHAR IS NULL OR a.month = $month)
),

counts AS (
    SELECT
        month,
        judge_a,
        judge_b,
        is_simulated,
        count(*) AS pair_count,
        avg((stars_a = stars_b)::INTEGER) AS agreement_rate,
        avg(stars_a) AS mean_stars_a,
        avg(stars_b) AS mean_stars_b,
        (
            count(*) FILTER (stars_a = 0) * count(*) FILTER (stars_b = 0)
            + count(*) FILTER (stars_a = 1) * count(*) FILTER (stars_b = 1)
            + count(*) FILTER (stars_a = 2) * count(*) FILTER (stars_b = 2)
            + count(*) FILTER (stars_a = 3) * count(*) FILTER (stars_b = 3)
        ) / count(*) / count(*) AS chance_rate
    FROM pairs
    GROUP BY month, judge_a, judge_b, is_simulated
)

SELECT
    month,
    judge_a,
    judge_b,
    pair_count,
    agreement_rate,
    (agreement_rate - chance_rate) / nullif(1 - chance_rate, 0) AS kappa,
    mean_stars_a,
    mean_stars_b,
    is_simulated
FROM counts
ORDER BY month, judge_a, judge_b, is_simulated
