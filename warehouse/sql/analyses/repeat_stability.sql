-- How stable are the scores when other questions are drawn, and when more are drawn?
-- One row per edition of a month, set and candidate: S of every resample of the set's questions and R against the reference
-- on the same resample, their means and sample variances over the resamples. Made by `proctor stability RUN`: by default
-- three of 1,000, one of 2,000 and one of 4,000; is_larger_than_set where a size is more than the set has.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- Shown: set_id, model, relative_score_mean, relative_score_variance, score_mean, score_variance, resample_count
-- Marks of: edition_id
-- No rows: no samples were drawn from a published edition: `proctor stability RUN`.
WITH drawn AS (
    SELECT b.*
    FROM bootstrap_scores AS b
    JOIN current_editions AS e ON e.edition_id = b.edition_id AND e.month = b.month
    WHERE b.discipline IS NULL
        AND b.prompt_style = $prompt_style
        AND coalesce($simulated::BOOLEAN OR NOT b.is_simulated, e.is_shown_by_default)
),

resamples AS (
    SELECT * FROM drawn WHERE month = coalesce($month::VARCHAR, (SELECT max(month) FROM drawn))
),

relative AS (
    SELECT c.*, c.score / nullif(r.score, 0) * 100 AS relative_score
    FROM resamples AS c
    LEFT JOIN resamples AS r
        ON r.is_reference
        AND r.edition_id = c.edition_id
        AND r.set_id = c.set_id
        AND r.resample = c.resample
        AND r.sample_size = c.sample_size
)

SELECT
    month,
    edition_id,
    set_id,
    model,
    list(relative_score ORDER BY sample_size, resample) AS relative_scores,
    list(score ORDER BY sample_size, resample) AS scores,
    list(sample_size ORDER BY sample_size, resample) AS sample_sizes,
    avg(relative_score ORDER BY sample_size, resample) AS relative_score_mean,
    var_samp(relative_score ORDER BY sample_size, resample) AS relative_score_variance,
    avg(score ORDER BY sample_size, resample) AS score_mean,
    var_samp(score ORDER BY sample_size, resample) AS score_variance,
    count(*) AS resample_count,
    any_value(question_count) AS question_count,
    bool_or(is_larger_than_set) AS is_larger_than_set,
    is_simulated
FROM relative
GROUP BY month, edition_id, set_id, model, is_simulated
ORDER BY month, edition_id, set_id, score_mean DESC, model
