-- What did every candidate get for every question in the editions before one?
-- One row per edition, candidate and question, zero-shot, earliest edition first; the last revision of each run. What a question earned
-- before it was corrected, up to the bank version that is asked for, is left out.
-- Parameters: $disciplines, $month, $planned_at, $is_simulated, $bank_version
SELECT
    s.edition_id,
    s.month,
    e.planned_at,
    s.sat_in_run_id,
    s.model,
    s.question_uuid,
    s.lineage_uuid,
    s.passage,
    s.discipline,
    s.stars_0_count,
    s.stars_1_count,
    s.stars_2_count,
    s.stars_3_count
FROM edition_stars AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
ANTI JOIN question_corrections AS c
    ON c.question_uuid = s.question_uuid AND e.bank_version < c.since_version AND c.since_version <= $bank_version
WHERE s.prompt_style = 'zero_shot'
    AND s.discipline IN (SELECT unnest($disciplines))
    AND s.month <= $month
    AND (e.month, e.planned_at) < ($month, $planned_at::TIMESTAMPTZ)
    AND s.is_simulated = $is_simulated
ORDER BY e.month, e.planned_at, s.edition_id, s.model, s.question_uuid
