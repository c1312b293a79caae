-- What is every question of these sessions of one month worth?
-- One row per allocation. Its stars are those of the first of $judges (each is `judge/version of its prompt`); where nothing
-- could be read of that one, those of whoever of the others gave any first. stars is null where score_status is unparsed or
-- unjudged; 0 where it is unanswered, the failed calls of a closed session included.
-- Parameters: $session_ids, $month, $judges
WITH asked AS (
    SELECT unnest($session_ids) AS session_id
),

judged AS (
    SELECT
        j.session_id,
        j.seq,
        arg_min(
            {stars: j.stars, judge: j.judge || '/' || split_part(j.prompt_version, '/', 1)},
            (
                j.judge || '/' || split_part(j.prompt_version, '/', 1) <> $judges[1],
                j.judged_at,
                j.judge,
                j.prompt_version,
                j.occasion
            )
        ) FILTER (j.stars IS NOT NULL) AS found,
        bool_or(j.judge || '/' || split_part(j.prompt_version, '/', 1) = $judges[1]) AS is_judged
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
    judged.found.judge AS judge,
    CASE
        WHEN r.session_id IS NULL OR r.answer_status = 'error' THEN 0
        WHEN judged.is_judged THEN judged.found.stars
    END::TINYINT AS stars,
    CASE
        WHEN r.session_id IS NULL OR r.answer_status = 'error' THEN 'unanswered'
        WHEN judged.is_judged IS DISTINCT FROM true THEN 'unjudged'
        WHEN judged.found IS NULL THEN 'unparsed'
        ELSE 'scored'
    END AS score_status
FROM allocations AS a
SEMI JOIN asked ON asked.session_id = a.session_id
LEFT JOIN (
    SELECT session_id, seq, answer_status, prompt_version FROM responses WHERE month = $month
) AS r ON r.session_id = a.session_id AND r.seq = a.seq
LEFT JOIN judged ON judged.session_id = a.session_id AND judged.seq = a.seq
WHERE a.month = $month
