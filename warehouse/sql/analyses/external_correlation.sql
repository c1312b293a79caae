-- Does our order agree with that of other benchmarks?
-- One row per benchmark: Spearman's rho between S of one month and the benchmark's latest score of the same candidates; ties
-- share their mean rank. Null for fewer than three candidates with S in common, and where one list is all equal. (The p-value is tasks/statistics/spearman.py's.)
-- Parameters: $month (default null), $simulated (default null)
-- No rows: no candidate of the month has published scores of another benchmark: `proctor import external FILE --benchmark NAME --source WHERE`.
WITH shown AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
),

scores AS (
    -- What differs in the last bits only is equal.
    SELECT model, round(score, 9) AS score
    FROM shown
    WHERE score IS NOT NULL AND month = coalesce($month::VARCHAR, (
    SELECT max(month) FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
))
),

external AS (
    SELECT benchmark, model, max_by(score, scored_on) AS external_score
    FROM external_scores
    GROUP BY benchmark, model
),

ranked AS (
    SELECT
        e.benchmark,
        s.model,
        rank() OVER (PARTITION BY e.benchmark ORDER BY s.score)
            + (count(*) OVER (PARTITION BY e.benchmark, s.score) - 1) / 2 AS score_rank,
        rank() OVER (PARTITION BY e.benchmark ORDER BY e.external_score)
            + (count(*) OVER (PARTITION BY e.benchmark, e.external_score) - 1) / 2 AS external_rank
    FROM external AS e
    JOIN scores AS s ON s.model = e.model
)

SELECT
    benchmark,
    CASE WHEN count(*) >= 3 THEN nullif(round(corr(score_rank, external_rank ORDER BY score_rank, external_rank), 9), 'nan'::DOUBLE) END AS spearman_rho,
    count(*) AS candidate_count
FROM ranked
GROUP BY benchmark
ORDER BY benchmark
