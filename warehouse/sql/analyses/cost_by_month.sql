-- What did each month cost, and for what?
-- One row per month and purpose over all paid calls, simulated ones apart. Calls without a known price cost nothing here, and are counted.
-- Parameters: $from_month (default null), $through_month (default null)
-- No rows: no call to a model was landed: `proctor evaluate` makes some.
SELECT
    month,
    purpose,
    sum(call_count)::BIGINT AS call_count,
    sum(failed_count)::BIGINT AS failed_count,
    sum(input_token_count)::BIGINT AS input_token_count,
    sum(output_token_count)::BIGINT AS output_token_count,
    sum(cost_usd::DECIMAL(38, 18))::DOUBLE AS cost_usd,
    sum(unpriced_count)::BIGINT AS unpriced_count,
    is_simulated
FROM monthly_costs
WHERE ($from_month::VARCHAR IS NULL OR month >= $from_month)
    AND ($through_month::VARCHAR IS NULL OR month <= $through_month)
GROUP BY month, purpose, is_simulated
ORDER BY month, purpose, is_simulated
