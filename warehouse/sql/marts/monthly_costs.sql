-- What did each model cost, and for what?
-- One row per month, model and purpose, over all paid calls, those of simulated runs apart; cost_usd counts attempts without a bill at the
-- most they could be, as budgets do.
SELECT
    c.month,
    c.model,
    c.purpose,
    count(*) AS call_count,
    count(*) FILTER (c.status = 'failed') AS failed_count,
    sum(c.attempts)::BIGINT AS attempt_count,
    sum(c.input_tokens)::BIGINT AS input_token_count,
    sum(c.output_tokens)::BIGINT AS output_token_count,
    -- As decimals: a sum of fractions changes its last bits with the order of rows.
    (coalesce(sum(c.cost_usd::DECIMAL(38, 18)), 0) + coalesce(sum(c.extra_usd::DECIMAL(38, 18)), 0))::DOUBLE AS cost_usd,
    count(*) FILTER (c.cost_usd IS NULL) AS unpriced_count,
    sum((c.cost_usd + coalesce(c.extra_usd, 0))::DECIMAL(38, 18))::DOUBLE AS priced_usd,
    quantile_cont(c.latency_ms, 0.5) AS median_latency_ms,
    coalesce(r.is_simulated, c.is_simulated, false) AS is_simulated
FROM llm_calls AS c
LEFT JOIN runs AS r ON r.run_id = c.run_id
GROUP BY ALL
