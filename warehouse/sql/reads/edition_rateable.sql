-- How many answers stand behind the scores of an edition, and how many of them could a person rate?
-- One row per candidate, prompt style and discipline, over complete sessions. An answer that is missing, empty or refused cannot be rated;
-- one whose text was erased since could be.
-- Parameters: $edition_id, $months
SELECT
    s.model,
    s.prompt_style,
    a.discipline,
    count(*) AS answer_count,
    count(*) FILTER (
        r.answer_status IN ('answered', 'truncated') AND coalesce(length(trim(r.response)) > 0, true)
    ) AS rateable_count
FROM edition_sessions AS s
JOIN allocations AS a ON a.session_id = s.session_id
LEFT JOIN responses AS r ON r.month = a.month AND r.session_id = a.session_id AND r.seq = a.seq
WHERE s.edition_id = $edition_id AND s.is_complete AND list_contains($months::VARCHAR[], a.month)
GROUP BY s.model, s.prompt_style, a.discipline
ORDER BY s.model, s.prompt_style, a.discipline
