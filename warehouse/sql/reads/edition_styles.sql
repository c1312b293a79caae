-- What do the responses of an edition look like?
-- One row per response of a complete session that has a text.
-- Parameters: $edition_id, $months
SELECT
    r.session_id,
    r.seq,
    s.model,
    s.prompt_style,
    r.response_length,
    r.list_count,
    r.heading_count,
    r.bold_count,
    r.is_chinese
FROM response_styles AS r
JOIN edition_sessions AS s ON s.session_id = r.session_id AND s.edition_id = $edition_id AND s.is_complete
WHERE list_contains($months::VARCHAR[], r.month)
ORDER BY r.session_id, r.seq
