-- What did each judge give each response, and does it count?
-- One row per response, judge and version of the prompt. is_counted marks the version by which the judge counts in the run
-- (run_judges), is_primary the stars that are published: those of the run's primary judge by that version.
-- stars is null for an unparsed judgement, never 0. attempt is 0 where an empty or refused answer got 0 stars by rule.
SELECT
    j.run_id,
    j.month,
    j.session_id,
    j.seq,
    j.question_uuid,
    j.model,
    j.prompt_style,
    j.judge,
    j.stars,
    j.reason,
    j.parse_status,
    j.prompt_version,
    j.judged_at,
    j.cost_usd,
    j.attempt,
    split_part(j.prompt_version, '/', 1) = r.prompt_wording AS is_counted,
    j.judge = p.judge AND split_part(j.prompt_version, '/', 1) = r.prompt_wording AS is_primary,
    p.is_provisional,
    j.is_simulated
FROM judgements AS j
JOIN run_judges AS r ON r.run_id = j.run_id AND r.judge = j.judge
LEFT JOIN primary_judge AS p ON p.run_id = j.run_id
