-- Why do failed responses fail?
-- One row per candidate and error class: its share (percent) of the candidate's labelled failures. A person's label is taken
-- before an LLM's, unparsed ones are left out; human_count says how many of the labels are people's.
WITH labels AS (
    SELECT session_id, seq, model, error_class, is_human
    FROM error_labels
    WHERE error_class IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY session_id, seq ORDER BY is_human DESC, labeller) = 1
)

SELECT
    model,
    error_class,
    count(*) AS label_count,
    count(*) FILTER (is_human) AS human_count,
    count(*) / sum(count(*)) OVER (PARTITION BY model) * 100 AS error_share
FROM labels
GROUP BY model, error_class
ORDER BY model, label_count DESC, error_class
