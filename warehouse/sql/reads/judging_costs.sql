-- What have judges' calls about the answers of each candidate cost?
-- One row per judge and candidate: the calls whose price is known, of these judges from $from_month on, and what they cost together.
-- Parameters: $judges, $from_month
WITH paid AS (
    SELECT model, landing_unit, sum(cost_usd::DECIMAL(38, 18))::DOUBLE AS cost_usd, count(*) AS call_count
    FROM llm_calls
    WHERE purpose = 'judge'
        AND cost_usd IS NOT NULL
        AND month >= $from_month::VARCHAR
        AND list_contains($judges::VARCHAR[], model)
    GROUP BY model, landing_unit
)

SELECT
    p.model AS judge,
    s.model AS candidate,
    sum(p.cost_usd::DECIMAL(38, 18))::DOUBLE AS cost_usd,
    sum(p.call_count)::BIGINT AS call_count
FROM paid AS p
JOIN sessions AS s ON s.session_id = left(p.landing_unit, position('/' || p.model || '/prompt-' IN p.landing_unit) - 1)
GROUP BY p.model, s.model
ORDER BY p.model, s.model
