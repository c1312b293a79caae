-- Where does a judge say something else than the key?
-- One row per judgement of a true/false or choice question whose stars and key differ: 2 or 3 stars for an answer that is wrong by
-- the key, 0 or 1 for one that is right. A list to look at, no correction: an extracted answer may be misread, a key may be wrong.
-- Parameters: $run_id (default null), $judge (default null)
-- Shown: run_id, session_id, seq, judge, stars, key_verdict, question_uuid
-- No rows: no judge has said anything else than a key: `proctor judge --run RUN` judges a run.
SELECT run_id, month, session_id, seq, question_uuid, model, judge, prompt_version, occasion, stars, key_verdict, reason, is_simulated
FROM judgements
WHERE (stars >= 2 AND key_verdict = 'wrong' OR stars <= 1 AND attempt > 0 AND key_verdict = 'right')
    AND run_id = coalesce($run_id::VARCHAR, run_id)
    AND judge = coalesce($judge::VARCHAR, judge)
ORDER BY month, run_id, question_uuid, session_id, seq, judge
