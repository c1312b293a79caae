-- For how many months does the bank still last?
-- One row per discipline of the latest bank version; no organisation is named. months_left of an organisation is what it has not met, over what it has met in
-- a month on average since its first; the least and the median over the organisations are shown, null where nobody has met anything of the
-- discipline. Nothing that was met is counted as rested. Real runs, or simulated ones.
-- Parameters: $simulated (default false)
-- No rows: the bank has no question with a discipline: `proctor ingest FOLDER` reads papers, and the last decision of their review publishes a version of it.
WITH banked AS (
    SELECT DISTINCT discipline, lineage_uuid
    FROM current_bank
    WHERE discipline IS NOT NULL
),

sat AS (
    SELECT DISTINCT s.organisation, s.set_id, s.month
    FROM sessions AS s
    WHERE s.is_simulated = $simulated::BOOLEAN
),

stretches AS (
    SELECT
        sat.organisation,
        date_diff(
            'month',
            strptime(min(sat.month) || '-01', '%Y-%m-%d'),
            strptime((SELECT max(month) FROM sat) || '-01', '%Y-%m-%d')
        ) + 1 AS month_count
    FROM sat
    GROUP BY sat.organisation
),

met AS (
    SELECT DISTINCT sat.organisation, banked.discipline, banked.lineage_uuid
    FROM sat
    JOIN sets ON sets.set_id = sat.set_id
    JOIN banked ON banked.lineage_uuid = sets.lineage_uuid
),

held AS (
    SELECT organisation, discipline, count(*) AS met_count FROM met GROUP BY organisation, discipline
),

sizes AS (
    SELECT discipline, count(*) AS lineage_count FROM banked GROUP BY discipline
),

outlooks AS (
    SELECT
        sizes.discipline,
        sizes.lineage_count,
        stretches.organisation,
        coalesce(held.met_count, 0) AS met_count,
        (sizes.lineage_count - held.met_count) / (held.met_count / stretches.month_count) AS months_left
    FROM sizes
    LEFT JOIN stretches ON true
    LEFT JOIN held ON held.organisation = stretches.organisation AND held.discipline = sizes.discipline
)

SELECT
    discipline,
    lineage_count,
    count(organisation) AS organisation_count,
    max(met_count) AS most_met_count,
    median(met_count) AS median_met_count,
    min(months_left) AS least_months_left,
    median(months_left) AS median_months_left
FROM outlooks
GROUP BY discipline, lineage_count
ORDER BY least_months_left NULLS LAST, discipline
