-- What did each judge give each response, and does it count?
-- One row per response, judge, version of the prompt and occasion. is_counted marks the version by which the judge counts in the
-- run (run_judges), is_primary the judgements of the run's primary judge by that version: its stars are published.
-- is_stand_in: these stars count in place of judgements that could not be read (stand_in_judgements).
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
    j.occasion,
    j.judged_at,
    j.cost_usd,
    j.attempt,
    coalesce(
        split_part(j.prompt_version, '/', 1) = r.prompt_wording AND NOT starts_with(j.occasion, 'again-'), false
    ) AS is_counted,
    coalesce(
        j.judge = p.judge
        AND split_part(j.prompt_version, '/', 1) = r.prompt_wording
        AND NOT starts_with(j.occasion, 'again-'),
        false
    ) AS is_primary,
    other.session_id IS NOT NULL AS is_stand_in,
    p.is_provisional,
    j.is_simulated
FROM judgements AS j
LEFT JOIN run_judges AS r ON r.month = j.month AND r.run_id = j.run_id AND r.judge = j.judge
LEFT JOIN primary_judge AS p ON p.month = j.month AND p.run_id = j.run_id
LEFT JOIN stand_in_judgements AS other
    ON other.month = j.month
    AND other.session_id = j.session_id
    AND other.seq = j.seq
    AND other.counted_judge = j.judge
    AND other.prompt_version = j.prompt_version
    AND other.occasion = j.occasion
