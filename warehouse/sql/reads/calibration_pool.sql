-- Which responses of a run can people rate, and what did a judge give each?
-- One row per answered or truncated response that no calibration has drawn before, in order. drawn_stars are those of $judge
-- (`judge/version of its prompt`); null where it gave none.
-- Parameters: $run_id, $month, $judge
SELECT
    r.run_id,
    r.month,
    r.session_id,
    r.seq,
    r.question_uuid,
    a.discipline,
    r.model,
    r.organisation,
    m.family,
    r.prompt_style,
    length(r.response) AS response_length,
    CASE
        WHEN r.answer IN ('A', 'true') THEN 'first'
        WHEN r.answer IN ('B', 'C', 'D', 'E', 'F', 'G', 'H', 'false') THEN 'later'
    END AS option_place,
    r.answer_status,
    j.stars AS drawn_stars,
    r.is_simulated
FROM responses AS r
JOIN allocations AS a ON a.month = r.month AND a.session_id = r.session_id AND a.seq = r.seq
LEFT JOIN models AS m ON m.run_id = r.run_id AND m.model = r.model
LEFT JOIN (
    SELECT session_id, seq, arg_min(stars, (judged_at, occasion)) FILTER (stars IS NOT NULL) AS stars
    FROM judgements
    WHERE month = $month AND run_id = $run_id AND judge || '/' || split_part(prompt_version, '/', 1) = $judge
    GROUP BY session_id, seq
) AS j ON j.session_id = r.session_id AND j.seq = r.seq
ANTI JOIN calibration_samples AS drawn ON drawn.session_id = r.session_id AND drawn.seq = r.seq
WHERE r.month = $month
    AND r.run_id = $run_id
    AND r.answer_status IN ('answered', 'truncated')
    AND length(trim(r.response)) > 0
ORDER BY r.session_id, r.seq
