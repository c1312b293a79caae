-- What did each judge give the control answers of a run, answers of known worth?
-- One row per control answer and judge. is_wrong marks a reference answer below 2 stars, another one with 3 stars, and a reply that could not
-- be read. An empty answer gets its 0 stars by rule (attempt 0). They are in no score.
-- Parameters: $run_id (default null), $judge (default null)
-- Shown: run_id, judge, kind, stars, is_wrong, question_uuid
-- No rows: no judge was given control answers yet: `proctor judge` gives them with every run (PROCTOR_JUDGE_CONTROLS), `proctor models check --judge NAME` tries some beforehand.
SELECT
    run_id,
    month,
    judge,
    prompt_version,
    kind,
    question_uuid,
    other_question_uuid,
    discipline,
    stars,
    attempt > 0 AND (stars IS NULL OR if(kind = 'reference', stars < 2, stars = 3)) AS is_wrong,
    attempt,
    reason,
    is_simulated
FROM judge_controls
WHERE run_id = coalesce($run_id::VARCHAR, run_id)
    AND judge = coalesce($judge::VARCHAR, judge)
ORDER BY month, run_id, judge, prompt_version, is_wrong DESC, kind, question_uuid
