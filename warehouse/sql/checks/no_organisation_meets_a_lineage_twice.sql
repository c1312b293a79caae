-- Which lineages did an organisation meet in two sets?
-- One row per organisation, lineage and later set; passes when empty. The styles of one sitting share a set and count once.
-- Sittings of the reference candidate are left out here: it answers every set, and plans count them as met by its
-- organisation. Simulated runs consume no exposure. Where a rest period is set, a lineage may return after that many months.
-- Parameters: $rest_months (default null)
WITH sittings AS (
    SELECT organisation, set_id, min(month) AS first_month
    FROM sessions
    WHERE NOT is_reference AND NOT is_simulated
    GROUP BY organisation, set_id
),

meetings AS (
    SELECT DISTINCT sittings.organisation, sets.lineage_uuid, sittings.set_id, sittings.first_month
    FROM sittings
    JOIN sets ON sets.set_id = sittings.set_id
),

repeated_meetings AS (
    SELECT
        *,
        lag(set_id) OVER encounters AS earlier_set_id,
        lag(first_month) OVER encounters AS earlier_month
    FROM meetings
    WINDOW encounters AS (PARTITION BY organisation, lineage_uuid ORDER BY first_month, set_id)
)

SELECT organisation, lineage_uuid, earlier_set_id, earlier_month, set_id, first_month AS month
FROM repeated_meetings
WHERE
    earlier_set_id IS NOT NULL
    AND coalesce(
        date_diff('month', (earlier_month || '-01')::DATE, (first_month || '-01')::DATE) < $rest_months::BIGINT, TRUE
    )
ORDER BY ALL
