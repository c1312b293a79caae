-- What did each model cost, and for what?
-- One row per month, model and purpose, over all paid calls; cost_usd counts attempts without a bill at the most they could be, as budgets do.
SELECT
    month,
    model,
    purpose,
    count(*) AS call_count,
    count(*) FILTER (status = 'failed') AS failed_count,
    sum(attempts)::BIGINT AS attempt_count,
    sum(input_tokens)::BIGINT AS input_token_count,
    sum(output_tokens)::BIGINT AS output_token_count,
    coalesce(sum(cost_usd), 0) + coalesce(sum(extra_usd), 0) AS cost_usd,
    count(*) FILTER (cost_usd IS NULL) AS unpriced_count,
    quantile_cont(latency_ms, 0.5) AS median_latency_ms
FROM llm_calls
GROUP BY ALL
