-- Which runs have landed, and what is published of them?
-- One row per run, the latest first: a page of them. judge, edition_id and grade are null where nothing is published.
-- Parameters: $run_id, $limit, $offset
-- A null $run_id asks for all.
SELECT
    runs.run_id,
    runs.month,
    runs.status,
    runs.bank_version,
    runs.planned_at,
    runs.closed_at,
    runs.is_simulated,
    e.edition_id,
    e.judge,
    k.marks,
    CASE WHEN e.edition_id IS NOT NULL THEN coalesce(g.grade, 'self-attested') END AS grade,
    count(*) OVER () AS run_count
FROM runs
LEFT JOIN current_editions AS e ON e.run_id = runs.run_id AND e.month = runs.month
LEFT JOIN edition_marks AS k ON k.named_by = e.edition_id
LEFT JOIN edition_grades AS g ON g.edition_id = e.edition_id
WHERE runs.run_id = coalesce($run_id::VARCHAR, runs.run_id)
ORDER BY runs.planned_at DESC, runs.run_id
LIMIT $limit::BIGINT
OFFSET $offset::BIGINT
