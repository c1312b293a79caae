-- What did the calls of each unit cost, as they were landed?
-- One row per unit of calls with an answer.
SELECT landing_unit AS unit, count(*)::BIGINT AS call_count, coalesce(sum(cost_usd ORDER BY cost_usd), 0) AS cost_usd
FROM llm_calls
WHERE status = 'done'
GROUP BY landing_unit
ORDER BY landing_unit
