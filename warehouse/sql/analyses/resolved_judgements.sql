-- Where the primary judge could not be read: whose stars count instead, and why did they give them?
-- One row per response that another judge, the same one asked again, or a person gave stars for.
-- Parameters: $month (default null)
-- A null month gives all months.
-- Frozen in order of: month, model, session_id, seq
-- Shown: month, model, session_id, seq, judge, counted_judge, stars
-- No rows: every reply of the first judge could be read, or nobody else gave stars: `proctor judge --unparsed` asks again, `proctor unparsed export FILE.xlsx` asks a person.
SELECT
    s.month,
    s.run_id,
    s.session_id,
    s.seq,
    s.question_uuid,
    s.model,
    s.prompt_style,
    s.judge,
    s.counted_judge,
    s.stars,
    other.reason,
    other.prompt_version,
    other.occasion,
    other.is_by_person,
    other.judged_at,
    s.is_simulated
FROM scored_responses AS s
JOIN stand_in_judgements AS other ON other.month = s.month AND other.session_id = s.session_id AND other.seq = s.seq
WHERE s.score_status = 'resolved' AND ($month::VARCHAR IS NULL OR s.month = $month)
ORDER BY month, model, session_id, seq
