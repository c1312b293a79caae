-- Which rules refused how many rows?
-- One row per table, stage and rule. A row that broke two rules counts under both.
SELECT
    table_name,
    stage,
    rule,
    count(*) AS broken_count,
    count(DISTINCT (unit, row_key)) AS row_count,
    count(DISTINCT unit) AS unit_count,
    max(quarantined_at) AS last_quarantined_at
FROM quarantine
GROUP BY ALL
