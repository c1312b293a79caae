-- Which responses have no stars because no judge's output could be read, and wait to be judged again?
-- One row per unparsed judgement of such a response, by the version that counts. is_published says whether it is the
-- primary judge's. `proctor judge --unparsed` asks the judges again; `proctor unparsed export` hands them to a person.
-- Parameters: $month (default null)
-- A null month gives all months.
-- Frozen in order of: month, model, session_id, seq, judge
-- No rows: every judgement can be read, or another's stars stand in for it; `proctor judge --run RUN` judges a run.
SELECT
    j.month,
    j.run_id,
    j.session_id,
    j.seq,
    j.question_uuid,
    j.model,
    j.prompt_style,
    j.judge,
    j.prompt_version,
    j.is_primary AS is_published,
    j.attempt,
    j.judged_at,
    j.is_simulated
FROM current_judgements AS j
ANTI JOIN stand_in_judgements AS other ON other.month = j.month AND other.session_id = j.session_id AND other.seq = j.seq
WHERE j.stars IS NULL AND j.is_counted AND ($month::VARCHAR IS NULL OR j.month = $month)
ORDER BY month, model, session_id, seq, judge
