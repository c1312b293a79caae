-- What is being refused, and by which rule?
-- One row per table, stage and rule, most frequent first. refused_rate is over all rows offered to the table (landed and
-- refused), in percent.
-- No rows: no row was ever refused, which is as it should be; `proctor rules list` names what would refuse one.
WITH offered AS (
    SELECT table_name, sum(row_count + rejected_count) AS offered_count
    FROM landings
    GROUP BY table_name
)

SELECT
    q.table_name,
    q.stage,
    q.rule,
    q.broken_count,
    q.row_count,
    q.unit_count,
    q.row_count / nullif(offered.offered_count, 0) * 100 AS refused_rate,
    q.last_quarantined_at
FROM quarantine_summary AS q
LEFT JOIN offered ON offered.table_name = q.table_name
ORDER BY q.broken_count DESC, q.table_name, q.rule
