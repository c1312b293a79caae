-- Which responses speak to their judge instead of answering, and what did it get them?
-- One row per judgement of such a response. address says how it speaks; it changes no stars. key_verdict is what the key alone says.
-- Parameters: $run_id (default null)
-- Shown: run_id, model, session_id, seq, address, judge, stars, key_verdict
-- No rows: no judged response speaks to its judge; `proctor judge --run RUN` looks for it in every response.
SELECT run_id, month, session_id, seq, question_uuid, model, address, judge, prompt_version, occasion, stars, key_verdict, is_simulated
FROM judgements
WHERE address IS NOT NULL AND run_id = coalesce($run_id::VARCHAR, run_id)
ORDER BY month, run_id, model, session_id, seq, judge, prompt_version, occasion
