-- What is to be known of an edition wherever a number of it stands?
-- One row per name by which rows say what they rest on: an edition; the last edition of a run (`run ` and its name); all last editions of a
-- month or of every month (`every`), repetitions left out, followed by whether they are simulated; those of a month with its repetitions
-- (`draws of` the month). marks is a text for reading, null where nothing is to be known: `simulated`, `provisional`, `overridden GATE` for
-- each gate that was shut when it was published, `text only` or `with pictures` where questions with pictures were asked (`picture_scope`).
WITH marked AS (
    SELECT
        edition_id,
        run_id,
        month,
        is_simulated,
        is_repetition,
        list_concat(
            CASE WHEN is_simulated THEN ['simulated'] ELSE [] END,
            CASE WHEN is_provisional THEN ['provisional'] ELSE [] END,
            CASE WHEN picture_scope IS NOT NULL THEN [if(picture_scope = 'pictures', 'with pictures', 'text only')] ELSE [] END,
            list_transform(coalesce(overridden_gates, []), lambda gate: 'overridden ' || gate)
        ) AS marks
    FROM editions
),

last_editions AS (
    SELECT m.*
    FROM marked AS m
    JOIN current_editions AS e ON e.edition_id = m.edition_id AND e.month = m.month
),

keyed AS (
    SELECT edition_id AS named_by, marks FROM marked
    UNION ALL
    SELECT 'run ' || run_id, marks FROM last_editions
    UNION ALL
    SELECT month || ' ' || is_simulated, marks FROM last_editions WHERE NOT is_repetition
    UNION ALL
    SELECT 'draws of ' || month || ' ' || is_simulated, marks FROM last_editions
    UNION ALL
    SELECT 'every ' || is_simulated, marks FROM last_editions WHERE NOT is_repetition
)

SELECT named_by, nullif(array_to_string(list_sort(list_distinct(flatten(list(marks)))), ', '), '') AS marks
FROM keyed
GROUP BY named_by
