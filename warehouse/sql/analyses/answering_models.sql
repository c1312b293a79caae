-- Which models do the endpoints say answered?
-- One row per month, model, purpose and name that the endpoint gave: how often, from when to when (by when the calls were sent). name_count
-- is how many names it gave in the month; is_new: the model had answered for this purpose before, and never under this name. Then whoever
-- compares the months compares two models. Outside candidates, and endpoints that name nothing, are not among them.
-- Parameters: $model (default null), $from_month (default null), $through_month (default null)
-- Shown: month, model, purpose, answered_by, call_count, name_count, is_new
-- No rows: no endpoint has named the model that answered, or none in the months that are asked for: `proctor evaluate` makes calls.
WITH named AS (
    SELECT
        month,
        model,
        purpose,
        answered_by,
        count(*) AS call_count,
        coalesce(bool_or(is_simulated), false) AS is_simulated,
        min(started_at) AS first_at,
        max(started_at) AS last_at
    FROM llm_calls
    WHERE answered_by IS NOT NULL
        AND month <= coalesce($through_month::VARCHAR, month)
        AND model = coalesce($model::VARCHAR, model)
    GROUP BY month, model, purpose, answered_by
)

SELECT
    month,
    model,
    purpose,
    answered_by,
    call_count,
    count(*) OVER (PARTITION BY month, model, purpose) AS name_count,
    min(first_at) OVER (PARTITION BY model, purpose, answered_by) = first_at
        AND min(first_at) OVER (PARTITION BY model, purpose) < first_at AS is_new,
    first_at,
    last_at,
    is_simulated
FROM named
QUALIFY month >= coalesce($from_month::VARCHAR, month)
ORDER BY model, purpose, month, first_at, answered_by
