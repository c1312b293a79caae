-- How many calls of each unit did a landing bring, and are some of them known only as started?
-- One row per unit of llm_calls, refused rows counted.
SELECT
    landings.unit,
    landings.row_count + landings.rejected_count AS call_count,
    coalesce(started.is_started, false) AS has_started
FROM landings
LEFT JOIN (
    SELECT landing_unit, true AS is_started
    FROM llm_calls
    WHERE status = 'started'
    GROUP BY landing_unit
) AS started ON started.landing_unit = landings.unit
WHERE landings.table_name = 'llm_calls'
ORDER BY landings.unit
