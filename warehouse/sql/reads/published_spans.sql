-- From which edition to which did S of each candidate move since a month?
-- One row per candidate and prompt style that sat and was published in two months from $since_month on, repetitions of a month left out: its
-- first edition there and its last; through_month is the last month that was published at all, weights are those of that month.
-- equated_change is null where the two are on different scales (`proctor publish --recalibrate` sets a new one).
-- A null month is the first that was published.
-- Parameters: $since_month (default null), $is_simulated
WITH published AS (
    SELECT *
    FROM current_editions
    WHERE NOT is_repetition AND is_simulated = $is_simulated
),

stretch AS (
    SELECT
        coalesce($since_month::VARCHAR, min(month)) AS since_month,
        max(month) AS through_month,
        arg_max(weights, month) AS weights
    FROM published
),

scales AS (
    SELECT edition_id, month, any_value(scale_edition_id) AS scale_edition_id
    FROM edition_fits
    WHERE withheld IS NULL
    GROUP BY edition_id, month
)

SELECT
    stretch.since_month,
    stretch.through_month,
    stretch.weights,
    s.model,
    any_value(s.organisation) AS organisation,
    s.prompt_style,
    arg_min(s.edition_id, s.month) AS from_edition_id,
    min(s.month) AS from_month,
    arg_min(s.score, s.month) AS from_score,
    arg_max(s.edition_id, s.month) AS to_edition_id,
    max(s.month) AS to_month,
    arg_max(s.score, s.month) AS to_score,
    CASE
        WHEN arg_max_null(c.scale_edition_id, s.month) = arg_min_null(c.scale_edition_id, s.month)
            THEN arg_max_null(s.equated_score, s.month) - arg_min_null(s.equated_score, s.month)
    END AS equated_change,
    count(*) AS month_count
FROM edition_scores AS s
JOIN published AS e ON e.edition_id = s.edition_id AND e.month = s.month
LEFT JOIN scales AS c ON c.edition_id = s.edition_id AND c.month = s.month
CROSS JOIN stretch
-- Whose sittings are all borrowed, a reference's, has answered nothing in that month.
ANTI JOIN (
    SELECT edition_id, month, model, prompt_style
    FROM edition_sessions
    WHERE is_complete
    GROUP BY edition_id, month, model, prompt_style
    HAVING bool_and(is_borrowed)
) AS borrowed
    ON borrowed.edition_id = s.edition_id AND borrowed.month = s.month AND borrowed.model = s.model AND borrowed.prompt_style = s.prompt_style
WHERE s.discipline = 'all' AND s.score IS NOT NULL AND s.month >= stretch.since_month
GROUP BY stretch.since_month, stretch.through_month, stretch.weights, s.model, s.prompt_style
HAVING count(*) > 1
ORDER BY s.prompt_style, s.model
