-- What did each team's models cost, month by month, with the judging of their answers?
-- One row per month, team, model and purpose. A judge's call counts for the candidate whose answers it judged, any other call for the model
-- that was called. The team is the one that owned the model when its run was planned; a call outside of its runs goes to the team of its
-- last run. Calls without a known price cost nothing here, and are counted.
-- Parameters: $team (default null), $from_month (default null), $through_month (default null)
-- Shown: month, team, model, purpose, call_count, input_token_count, output_token_count, cost_usd
-- No rows: no call to a model was landed, or none of the team and the months that are asked for: `proctor evaluate` makes some.
WITH charged AS (
    SELECT
        c.* EXCLUDE (model),
        coalesce(s.model, c.model) AS model
    FROM llm_calls AS c
    LEFT JOIN sessions AS s
        ON c.purpose = 'judge'
        AND s.session_id = left(c.landing_unit, position('/' || c.model || '/prompt-' IN c.landing_unit) - 1)
    WHERE c.month >= coalesce($from_month::VARCHAR, c.month)
        AND c.month <= coalesce($through_month::VARCHAR, c.month)
),

last_runs AS (
    SELECT m.model, m.team
    FROM models AS m
    JOIN runs AS r USING (run_id)
    QUALIFY row_number() OVER (PARTITION BY m.model ORDER BY r.planned_at DESC, r.run_id DESC) = 1
),

owned AS (
    SELECT
        c.* EXCLUDE (is_simulated),
        CASE WHEN m.model IS NOT NULL THEN m.team ELSE l.team END AS team,
        coalesce(r.is_simulated, c.is_simulated, false) AS is_simulated
    FROM charged AS c
    LEFT JOIN runs AS r ON r.run_id = c.run_id
    LEFT JOIN models AS m ON m.run_id = c.run_id AND m.model = c.model
    LEFT JOIN last_runs AS l ON l.model = c.model
)

SELECT
    month,
    team,
    model,
    purpose,
    count(*) AS call_count,
    count(*) FILTER (status = 'failed') AS failed_count,
    sum(input_tokens)::BIGINT AS input_token_count,
    sum(output_tokens)::BIGINT AS output_token_count,
    (coalesce(sum(cost_usd::DECIMAL(38, 18)), 0) + coalesce(sum(extra_usd::DECIMAL(38, 18)), 0))::DOUBLE AS cost_usd,
    count(*) FILTER (cost_usd IS NULL) AS unpriced_count,
    is_simulated
FROM owned
WHERE $team::VARCHAR IS NULL OR team = $team::VARCHAR
GROUP BY month, team, model, purpose, is_simulated
ORDER BY month, team NULLS LAST, model, purpose, is_simulated
