-- What do the rated responses of a calibration look like?
-- One row per response of the occasion that has a text. $months are those of the responses: no other month is read.
-- Parameters: $occasion, $months
SELECT DISTINCT
    r.session_id,
    r.seq,
    a.lineage_uuid,
    r.response_length,
    r.list_count,
    r.heading_count,
    r.bold_count,
    r.is_chinese
FROM response_styles AS r
SEMI JOIN calibration_samples AS s ON s.session_id = r.session_id AND s.seq = r.seq AND s.occasion = $occasion
JOIN allocations AS a ON a.month = r.month AND a.session_id = r.session_id AND a.seq = r.seq
WHERE list_contains($months::VARCHAR[], r.month)
ORDER BY r.session_id, r.seq
