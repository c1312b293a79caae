-- Why do failed responses fail?
-- One row per candidate and error class: its share (percent) of the candidate's labelled failures, with Wilson's 95% interval. A
-- person's label is taken before an LLM's, unparsed ones are left out; human_count says how many of the labels are people's.
-- Shown: model, error_class, label_count, labelled_count, error_share, error_share_low, error_share_high
-- No rows: nobody has said why responses failed: `proctor errors draw RUN`, `proctor errors export FILE.xlsx`, then `proctor errors import FILE.xlsx --user USER`.
WITH labels AS (
    SELECT session_id, seq, model, error_class, is_human
    FROM error_labels
    WHERE error_class IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY session_id, seq ORDER BY is_human DESC, labeller) = 1
),

counts AS (
    SELECT
        model,
        error_class,
        count(*) AS label_count,
        count(*) FILTER (is_human) AS human_count,
        sum(count(*)) OVER (PARTITION BY model)::BIGINT AS labelled_count,
        1.959964 AS reach
    FROM labels
    GROUP BY model, error_class
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
    ) / (labelled_count + reach ** 2)) * 100 AS error_share_high
FROM counts
ORDER BY model, label_count DESC, error_class
