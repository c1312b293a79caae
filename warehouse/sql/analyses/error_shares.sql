-- Why do failed responses fail?
-- One row per candidate and error class: its share (percent) of the candidate's labelled failures, with Wilson's 95% interval. A
-- person's label is taken before an LLM's, unparsed ones are left out; human_count says how many of the labels are people's.
-- Parameters: $simulated (default null)
-- Simulated candidates are left out as soon as failures of real ones were drawn, unless asked for.
-- Shown: model, error_class, label_count, labelled_count, error_share, error_share_low, error_share_high
-- No rows: nobody has said why responses failed: `proctor errors draw RUN`, `proctor errors export FILE.xlsx`, then `proctor errors import FILE.xlsx --user USER`.
WITH labels AS (
    SELECT l.session_id, l.seq, l.model, l.error_class, l.is_human, s.is_simulated
    FROM error_labels AS l
    JOIN (SELECT DISTINCT session_id, seq, is_simulated FROM error_samples) AS s ON s.session_id = l.session_id AND s.seq = l.seq
    WHERE l.error_class IS NOT NULL
        AND coalesce(
            $simulated::BOOLEAN OR NOT s.is_simulated,
            NOT s.is_simulated OR NOT EXISTS (FROM error_samples WHERE NOT is_simulated)
        )
    QUALIFY row_number() OVER (PARTITION BY l.session_id, l.seq ORDER BY l.is_human DESC, l.labeller) = 1
),

counts AS (
    SELECT
        model,
        error_class,
        is_simulated,
        count(*) AS label_count,
        count(*) FILTER (is_human) AS human_count,
        sum(count(*)) OVER (PARTITION BY model, is_simulated)::BIGINT AS labelled_count,
        1.959964 AS reach
    FROM labels
    GROUP BY model, error_class, is_simulated
)

SELECT
    model,
    error_class,
    label_count,
    human_count,
    labelled_count,
    label_count / labelled_count * 100 AS error_share,
    greatest(0, (
        label_count + reach ** 2 / 2
        - reach * sqrt(label_count * (labelled_count - label_count) / labelled_count + reach ** 2 / 4)
    ) / (labelled_count + reach ** 2)) * 100 AS error_share_low,
    least(1, (
        label_count + reach ** 2 / 2
        + reach * sqrt(label_count * (labelled_count - label_count) / labelled_count + reach ** 2 / 4)
    ) / (labelled_count + reach ** 2)) * 100 AS error_share_high,
    is_simulated
FROM counts
ORDER BY is_simulated, model, label_count DESC, error_class
