-- How much of the bank have all organisations met together, month by month, and when will it be most of it?
-- One row per month with a run, and the next $ahead ones. A forecast month adds the mean of the last $window months with a run, at most
-- what the bank has: it holds while sets, organisations and the bank stay as they are. Real runs, or simulated ones.
-- Parameters: $ahead (default 12), $window (default 6), $simulated (default false)
-- No rows: only real runs count, as simulated ones take nothing from the bank: `proctor monthly` with a candidate that is registered as real, or `--param simulated=true`.
WITH banked AS (
    SELECT DISTINCT lineage_uuid FROM current_bank WHERE discipline IS NOT NULL
),

first_met AS (
    SELECT sets.lineage_uuid, min(sessions.month) AS month
    FROM sessions
    INNER JOIN sets ON sets.set_id = sessions.set_id
    INNER JOIN banked ON banked.lineage_uuid = sets.lineage_uuid
    WHERE sessions.is_simulated = $simulated::BOOLEAN
    GROUP BY sets.lineage_uuid
),

months AS (
    SELECT sessions.month, count(DISTINCT first_met.lineage_uuid) AS new_count
    FROM (SELECT DISTINCT month FROM sessions WHERE is_simulated = $simulated::BOOLEAN) AS sessions
    LEFT JOIN first_met ON first_met.month = sessions.month
    GROUP BY sessions.month
),

history AS (
    SELECT month, new_count, sum(new_count) OVER (ORDER BY month) AS pooled_count FROM months
),

pace AS (
    SELECT avg(new_count) AS new_count
    FROM (SELECT new_count FROM months ORDER BY month DESC LIMIT greatest(1, $window))
),

latest AS (
    SELECT month, pooled_count FROM history ORDER BY month DESC LIMIT 1
),

every AS (
    SELECT month, pooled_count::DOUBLE AS pooled_count, false AS is_forecast FROM history
    UNION ALL
    SELECT
        strftime(
            strptime(latest.month || '-01', '%Y-%m-%d')::DATE + to_months(step.i::INTEGER), '%Y-%m'
        ) AS month,
        least(latest.pooled_count + step.i * pace.new_count, (SELECT count(*) FROM banked)) AS pooled_count,
        true AS is_forecast
    FROM latest
    CROSS JOIN pace
    CROSS JOIN range(1, $ahead::BIGINT + 1) AS step (i)
)

SELECT
    every.month,
    every.is_forecast,
    every.pooled_count,
    every.pooled_count / nullif((SELECT count(*) FROM banked), 0) AS pooled_share
FROM every
ORDER BY every.month
