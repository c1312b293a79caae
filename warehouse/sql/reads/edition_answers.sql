-- What is every question of these sessions of one month worth, by the first of these judges whose output could be read?
-- One row per allocation. stars is null where score_status is unparsed or unjudged; 0 where it is unanswered.
-- $judges holds `judge/version of its prompt`, the first one first.
-- Parameters: $session_ids, $month, $judges
WITH asked AS (
    SELECT unnest($session_ids) AS session_id
),

judged AS (
    SELECT
        j.session_id,
        j.seq,
        arg_min(j.stars, list_position($judges, j.judge || '/' || split_part(j.prompt_version, '/', 1)))
            FILTER (j.stars IS NOT NULL) AS stars,
        arg_min(
            j.judge || '/' || split_part(j.prompt_version, '/', 1),
            list_position($judges, j.judge || '/' || split_part(j.prompt_version, '/', 1))
        ) FILTER (j.stars IS NOT NULL) AS judge
    FROM judgements AS j
    SEMI JOIN asked ON asked.session_id = j.session_id
    WHERE j.month = $month
        AND list_contains($judges, j.judge || '/' || split_part(j.prompt_version, '/', 1))
    GROUP BY j.session_id, j.seq
)

SELECT
    a.session_id,
    a.seq,
    a.question_uuid,
    a.lineage_uuid,
    a.discipline,
    r.prompt_version,
    judged.judge,
    CASE
        WHEN r.session_id IS NULL OR r.answer_status = 'error' THEN 0
        ELSE judged.stars
    END::TINYINT AS stars,
    CASE
        WHEN r.session_id IS NULL OR r.answer_status = 'error' THEN 'unanswered'
        WHEN judged.stars IS NOT NULL THEN 'scored'
        WHEN judged.session_id IS NOT NULL THEN 'unparsed'
        ELSE 'unjudged'
    END AS score_status
FROM allocations AS a
SEMI JOIN asked ON asked.session_id = a.session_id
LEFT JOIN (
    SELECT session_id, seq, answer_status, prompt_version FROM responses WHERE month = $month
) AS r ON r.session_id = a.session_id AND r.seq = a.seq
LEFT JOIN judged ON judged.session_id = a.session_id AND judged.seq = a.seq
WHERE a.month = $month
