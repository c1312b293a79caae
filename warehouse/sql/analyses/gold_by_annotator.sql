-- How do annotators do on questions with a known decision, with the error of that?
-- One row per annotator, over closed batches. right_rate is the share right of those decided, with Wilson's 95% interval; who
-- has not decided on any has no row.
-- Parameters: $batch_id (default null)
-- A null batch gives all batches.
-- No rows: nobody has decided a question with a known decision: set PROCTOR_REVIEW_GOLD_SHARE=0.1, then `proctor ingest FOLDER` and close the review of it.
WITH counts AS (
    SELECT
        annotator,
        sum(decided_count) AS decided_count,
        sum(right_count) AS right_count,
        sum(missed_count) AS missed_count,
        sum(false_alarm_count) AS false_alarm_count
    FROM gold_scores
    WHERE batch_id = coalesce($batch_id::VARCHAR, batch_id)
    GROUP BY annotator
    HAVING sum(decided_count) > 0
),

parts AS (
    SELECT
        *,
        right_count / decided_count AS right_rate,
        1.959963984540054 * 1.959963984540054 AS square
    FROM counts
),

reaches AS (
    SELECT
        *,
        (right_rate + square / (2 * decided_count)) / (1 + square / decided_count) AS centre,
        sqrt(square) / (1 + square / decided_count) * sqrt(
            right_rate * (1 - right_rate) / decided_count + square / (4 * decided_count * decided_count)
        ) AS reach
    FROM parts
)

SELECT
    annotator,
    decided_count,
    right_count,
    missed_count,
    false_alarm_count,
    right_rate,
    greatest(0, centre - reach) AS low,
    least(1, centre + reach) AS high
FROM reaches
ORDER BY right_rate, annotator
