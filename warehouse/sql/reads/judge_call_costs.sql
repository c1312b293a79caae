-- What does one judgement of each model cost?
-- One row per model that has judged: mean cost of its paid calls whose price is known, over the last months with any.
-- Parameters: $models
SELECT model, avg(cost_usd) AS cost_usd, count(*) AS call_count
FROM llm_calls
WHERE purpose IN ('judge', 'drift') AND list_contains($models::VARCHAR[], model) AND cost_usd IS NOT NULL
GROUP BY model
ORDER BY model
