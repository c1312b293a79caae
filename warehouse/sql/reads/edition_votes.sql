-- Which stars did each judge give the responses of an edition?
-- One row per response and judge, by the version of its prompt that counts (run_judges), and one for a person who stood in where no
-- judge could be read. Stars given by rule are left out.
-- Parameters: $edition_id, $months
SELECT
    j.session_id,
    j.seq,
    j.judge,
    j.prompt_wording,
    min(j.stars)::BIGINT AS stars
FROM counted_judgements AS j
SEMI JOIN edition_sessions AS s ON s.session_id = j.session_id AND s.edition_id = $edition_id AND s.is_complete
WHERE list_contains($months::VARCHAR[], j.month) AND j.stars IS NOT NULL AND j.attempt > 0 AND NOT starts_with(j.judge, 'person:')
GROUP BY ALL
UNION ALL
SELECT
    r.session_id,
    r.seq,
    'person' AS judge,
    '' AS prompt_wording,
    r.stars::BIGINT AS stars
FROM stand_in_judgements AS r
SEMI JOIN edition_sessions AS s ON s.session_id = r.session_id AND s.edition_id = $edition_id AND s.is_complete
WHERE list_contains($months::VARCHAR[], r.month) AND r.is_by_person
ORDER BY ALL
