-- How stable are the scores when other questions are drawn, and when more are drawn?
-- One row per candidate of one month: R of every resample (against the month's reference on the same resample), their mean and
-- sample variance. Resamples are made by tasks/statistics/bootstrap.py (no command runs it yet): by default three of 1,000,
-- one of 2,000, one of 4,000.
-- Parameters: $month (default null)
WITH resamples AS (
    SELECT b.model, b.month, b.resample, b.sample_size, b.score
    FROM bootstrap_scores AS b
    WHERE b.discipline IS NULL
        AND b.month = coalesce($month::VARCHAR, (SELECT max(month) FROM bootstrap_scores))
),

reference_models AS (
    SELECT month, max_by(reference_model, planned_at) AS reference_model
    FROM runs
    GROUP BY month
),

relative AS (
    SELECT
        c.month,
        c.model,
        c.resample,
        c.sample_size,
        c.score,
        c.score / nullif(r.score, 0) * 100 AS relative_score
    FROM resamples AS c
    LEFT JOIN reference_models AS m ON m.month = c.month
    LEFT JOIN resamples AS r
        ON r.model = m.reference_model
        AND r.resample = c.resample
        AND r.sample_size = c.sample_size
)

SELECT
    month,
    model,
    list(relative_score ORDER BY sample_size, resample) AS relative_scores,
    list(sample_size ORDER BY sample_size, resample) AS sample_sizes,
    avg(relative_score) AS relative_score_mean,
    var_samp(relative_score) AS relative_score_variance,
    avg(score) AS score_mean,
    var_samp(score) AS score_variance,
    count(*) AS resample_count
FROM relative
GROUP BY month, model
ORDER BY relative_score_mean DESC NULLS LAST, model
