-- What did each model cost?
-- One row per model and purpose over the months asked for; cost_per_call_usd only over priced calls.
-- Parameters: $from_month (default null), $through_month (default null)
-- No rows: no call to a model was landed: `proctor evaluate` makes some.
SELECT
    model,
    purpose,
    sum(call_count)::BIGINT AS call_count,
    sum(failed_count)::BIGINT AS failed_count,
    sum(attempt_count)::BIGINT AS attempt_count,
    sum(input_token_count)::BIGINT AS input_token_count,
    sum(output_token_count)::BIGINT AS output_token_count,
    sum(cost_usd::DECIMAL(38, 18))::DOUBLE AS cost_usd,
    sum(priced_usd::DECIMAL(38, 18))::DOUBLE / nullif(sum(call_count - unpriced_count), 0) AS cost_per_call_usd,
    sum(unpriced_count)::BIGINT AS unpriced_count,
    is_simulated
FROM monthly_costs
WHERE ($from_month::VARCHAR IS NULL OR month >= $from_month)
    AND ($through_month::VARCHAR IS NULL OR month <= $through_month)
GROUP BY model, purpose, is_simulated
ORDER BY round(sum(cost_usd::DECIMAL(38, 18)), 9) DESC, model, purpose, is_simulated
