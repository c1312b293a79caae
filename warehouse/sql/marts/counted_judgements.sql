-- What did each judge give each response, by the version of its prompt that counts?
-- One row per response and judge: the judgements of run_judges' version; those by other versions are left out, and those
-- that were asked for again because nothing could be read the first time (stand_in_judgements).
SELECT j.*, r.prompt_wording
FROM judgements AS j
JOIN run_judges AS r
    ON r.month = j.month
    AND r.run_id = j.run_id
    AND r.judge = j.judge
    AND r.prompt_wording = split_part(j.prompt_version, '/', 1)
WHERE NOT starts_with(j.occasion, 'again-')
