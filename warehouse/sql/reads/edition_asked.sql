-- What was asked in an edition, and which questions were drawn together?
-- One row per allocation of a complete session. cluster is the same for questions about one text.
-- Parameters: $edition_id, $month, $months
SELECT
    s.sat_in_run_id AS run_id,
    a.month,
    a.session_id,
    a.seq,
    s.model,
    s.prompt_style,
    a.discipline,
    coalesce(e.passage, a.lineage_uuid) AS cluster
FROM edition_sessions AS s
JOIN allocations AS a ON a.session_id = s.session_id
LEFT JOIN edition_stars AS e
    ON e.month = $month
    AND e.edition_id = s.edition_id
    AND e.model = s.model
    AND e.prompt_style = s.prompt_style
    AND e.question_uuid = a.question_uuid
WHERE s.edition_id = $edition_id AND s.is_complete AND list_contains($months::VARCHAR[], a.month)
ORDER BY a.session_id, a.seq
