-- What stars did each judge give the responses of a calibration, by each version of its prompt?
-- One row per response, judge and version without its language: the earliest judgement that could be read. Stars given by rule
-- and by people who stood in are left out. $months are those of the responses: no other month is read.
-- Parameters: $occasion, $months
SELECT
    j.session_id,
    j.seq,
    j.judge,
    split_part(j.prompt_version, '/', 1) AS prompt_version,
    arg_min(j.stars, (j.judged_at, j.occasion))::BIGINT AS judged_stars
FROM judgements AS j
SEMI JOIN calibration_samples AS s ON s.session_id = j.session_id AND s.seq = j.seq AND s.occasion = $occasion
WHERE list_contains($months::VARCHAR[], j.month)
    AND j.stars IS NOT NULL
    AND j.attempt > 0
    AND NOT starts_with(j.judge, 'person:')
GROUP BY ALL
ORDER BY ALL
