-- Who leads on a benchmark by marks that were made elsewhere?
-- One row per benchmark, model and metric, and one for `overall`: the mean mark over all rows of the files, repeats and double
-- marks counted each, to $digits decimals; marks of a file that names no metric are `mark`. overall is the mean of the metrics'
-- values, of who has all of them, unless a file has a metric of that name. Equal values share the worse rank. These models were not examined here: they stand in no leaderboard of ours.
-- Parameters: $benchmark (default null), $digits (default 3)
-- Shown: model, metric, score, rank, mark_count
-- No rows: no marks from elsewhere were taken in: `proctor import scores FILE --benchmark NAME`.
WITH of_metric AS (
    SELECT
        benchmark,
        model,
        coalesce(metric, 'mark') AS metric,
        round(avg(mark ORDER BY mark), $digits::INTEGER) AS score,
        count(mark) AS mark_count
    FROM imported_marks
    WHERE mark IS NOT NULL AND benchmark = coalesce($benchmark::VARCHAR, benchmark)
    GROUP BY ALL
),

metrics AS (
    SELECT benchmark, count(DISTINCT metric) AS metric_count, bool_or(metric = 'overall') AS has_overall
    FROM of_metric
    GROUP BY benchmark
),

scores AS (
    SELECT * FROM of_metric
    UNION ALL
    SELECT benchmark, model, 'overall' AS metric, round(avg(score ORDER BY score), $digits::INTEGER) AS score, sum(mark_count)::BIGINT AS mark_count
    FROM of_metric
    JOIN metrics USING (benchmark)
    WHERE NOT metrics.has_overall
    GROUP BY benchmark, model, metrics.metric_count
    HAVING count(*) = metrics.metric_count
)

SELECT
    benchmark,
    model,
    metric,
    score,
    count(*) OVER (
        PARTITION BY benchmark, metric ORDER BY score DESC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS rank,
    mark_count
FROM scores
ORDER BY benchmark, metric = 'overall' DESC, metric, rank, model
