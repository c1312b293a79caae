-- Which responses of a run failed by the run's judge?
-- One row per response with 0 or 1 star of the run's primary judge; stars by rule are left out: an empty answer has no error.
-- So are erased ones: nobody can say why they failed.
-- Parameters: $run_id, $month
SELECT
    j.session_id,
    j.seq,
    j.run_id,
    j.month,
    j.question_uuid,
    j.model,
    j.prompt_style,
    a.discipline,
    j.judge,
    j.stars,
    j.is_simulated
FROM current_judgements AS j
JOIN allocations AS a ON a.month = j.month AND a.session_id = j.session_id AND a.seq = j.seq
ANTI JOIN erasures ON erasures.session_id = j.session_id
WHERE j.month = $month AND j.run_id = $run_id AND j.is_primary AND j.stars <= 1 AND j.attempt > 0
ORDER BY j.session_id, j.seq
