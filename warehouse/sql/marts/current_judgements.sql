-- What did each judge give each response, and does it count?
-- One row per response and judge. is_primary marks the stars that are published: those of the run's primary judge.
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
    j.judge = p.judge AS is_primary,
    p.is_provisional,
    j.is_simulated
FROM judgements AS j
LEFT JOIN primary_judge AS p ON p.run_id = j.run_id
