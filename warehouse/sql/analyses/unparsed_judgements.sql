-- Which judgements could not be read and are waiting to be judged again?
-- One row per unparsed judgement of the version that counts. is_published says whether it is the
-- primary judge's, so that a leaderboard misses it.
-- Parameters: $month (default null)
-- A null month gives all months.
SELECT
    month,
    run_id,
    session_id,
    seq,
    question_uuid,
    model,
    prompt_style,
    judge,
    prompt_version,
    is_primary AS is_published,
    attempt,
    judged_at
FROM current_judgements
WHERE stars IS NULL AND is_counted AND month = coalesce($month::VARCHAR, month)
ORDER BY month, model, session_id, seq, judge
