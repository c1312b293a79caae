-- What has an organisation met?
-- One row per organisation and set that its candidates or the reference sat: when first, by which candidates, how many lineages, and
-- how many of the latest bank version it has met by then altogether. Simulated runs consume nothing
-- and stand apart; they are left out as soon as there is a real one, unless asked for.
-- Parameters: $organisation (default null), $simulated (default null)
-- A null organisation is all of them.
-- No rows: nobody who is asked for sat anything: `proctor evaluate` lets candidates sit.
WITH met AS (
    SELECT
        s.organisation,
        s.set_id,
        s.is_simulated,
        min(s.month) AS first_month,
        arg_min(s.run_id, (s.month, s.run_id)) AS first_run_id,
        string_agg(DISTINCT s.model, ', ' ORDER BY s.model) AS models,
        count(*) AS session_count
    FROM sessions AS s
    WHERE s.organisation = coalesce($organisation::VARCHAR, s.organisation)
        AND coalesce(
            $simulated::BOOLEAN OR NOT s.is_simulated,
            NOT s.is_simulated OR NOT EXISTS (FROM sessions WHERE NOT is_simulated)
        )
    GROUP BY s.organisation, s.set_id, s.is_simulated
),

-- Whose candidate is the reference meets an anchor in several sets: it was met with the first of them.
first_met AS (
    SELECT m.organisation, m.is_simulated, sets.lineage_uuid, arg_min(m.set_id, (m.first_month, m.set_id)) AS set_id
    FROM met AS m
    JOIN sets ON sets.set_id = m.set_id
    SEMI JOIN current_bank AS b ON b.lineage_uuid = sets.lineage_uuid
    GROUP BY m.organisation, m.is_simulated, sets.lineage_uuid
),

counted AS (
    SELECT
        m.*,
        count(DISTINCT sets.lineage_uuid) AS lineage_count,
        count(DISTINCT f.lineage_uuid) AS new_count
    FROM met AS m
    LEFT JOIN sets ON sets.set_id = m.set_id
    LEFT JOIN first_met AS f
        ON f.organisation = m.organisation
        AND f.is_simulated = m.is_simulated
        AND f.set_id = m.set_id
        AND f.lineage_uuid = sets.lineage_uuid
    GROUP BY ALL
)

SELECT
    organisation,
    first_month,
    first_run_id,
    set_id,
    models,
    session_count,
    lineage_count,
    (sum(new_count) OVER history)::BIGINT AS met_count,
    sum(new_count) OVER history / nullif((SELECT count(DISTINCT lineage_uuid) FROM current_bank), 0) AS met_share,
    is_simulated
FROM counted
WINDOW history AS (PARTITION BY organisation, is_simulated ORDER BY first_month, set_id ROWS UNBOUNDED PRECEDING)
ORDER BY is_simulated, organisation, first_month, set_id
