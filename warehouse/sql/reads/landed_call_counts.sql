-- How many calls of these units did a landing bring, and are some of them known only as started?
-- One row per landed unit of llm_calls among $units, refused rows counted. $months are those that the calls are landed under.
-- Parameters: $units, $months
SELECT
    landings.unit,
    landings.row_count + landings.rejected_count AS call_count,
    coalesce(started.is_started, false) AS has_started
FROM landings
SEMI JOIN (SELECT unnest($units::VARCHAR[]) AS unit) AS asked ON asked.unit = landings.unit
LEFT JOIN (
    SELECT landing_unit, true AS is_started
    FROM llm_calls
    WHERE status = 'started' AND list_contains($months::VARCHAR[], month)
    GROUP BY landing_unit
) AS started ON started.landing_unit = landings.unit
WHERE landings.table_name = 'llm_calls'
ORDER BY landings.unit
