-- How did the models of an external benchmark stand on each day that it was published?
-- One row per benchmark, day and model: score and rank among the models of that day, equal scores sharing the better rank.
-- Parameters: $benchmark (default null), $model (default null)
-- No rows: no scores of another benchmark were taken in: `proctor import external FILE --benchmark NAME --source WHERE`.
WITH ranked AS (
    SELECT
        benchmark,
        scored_on,
        model,
        score,
        rank() OVER (PARTITION BY benchmark, scored_on ORDER BY score DESC) AS rank,
        count(*) OVER (PARTITION BY benchmark, scored_on) AS model_count,
        source
    FROM external_scores
    WHERE benchmark = coalesce($benchmark::VARCHAR, benchmark)
)

SELECT *
FROM ranked
WHERE model = coalesce($model::VARCHAR, model)
ORDER BY benchmark, scored_on, rank, model
