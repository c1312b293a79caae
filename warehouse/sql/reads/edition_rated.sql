-- Which responses of an edition did people rate, and what did the edition's judge give them?
-- One row per response that was rated and judged by that judge and version of its prompt.
-- Parameters: $edition_id
SELECT
    p.session_id,
    p.seq,
    p.model,
    p.family,
    p.prompt_style,
    p.discipline,
    p.mean_stars,
    p.judged_stars,
    coalesce(p.is_own_family, false) AS is_own_family
FROM calibration_pairs AS p
JOIN edition_sessions AS s ON s.session_id = p.session_id AND s.edition_id = $edition_id AND s.is_complete
JOIN editions AS e
    ON e.edition_id = $edition_id AND e.judge = p.judge AND e.judge_prompt_version = p.prompt_version
QUALIFY row_number() OVER (PARTITION BY p.session_id, p.seq ORDER BY p.occasion, p.round) = 1
ORDER BY p.session_id, p.seq
