-- Which landed sessions are there to judge?
-- One row per session of the run asked for, by month; without one, of every run in which one of $judges has not judged some
-- session, by whichever version of its prompt; who sat a run judges none of it, and of a published run nobody waits who has judged
-- nothing of it: who became a judge since is asked by its name. Simulated runs, or the others: they never share a judge. What was erased is left
-- out: there is nothing to read.
-- Parameters: $is_simulated, $judges, $run_id (default null)
WITH judged AS (
    -- The unit of judgements is session/judge/prompt-version.
    SELECT regexp_replace(unit, '/prompt-[^/]*$', '') AS session_and_judge
    FROM landings
    WHERE table_name = 'judgements'
),

sat AS (
    SELECT DISTINCT run_id, model
    FROM sessions
),

begun AS (
    SELECT DISTINCT sessions.run_id, asked.judge
    FROM sessions
    CROSS JOIN (SELECT unnest($judges::VARCHAR[]) AS judge) AS asked
    SEMI JOIN judged ON judged.session_and_judge = sessions.session_id || '/' || asked.judge
),

unfinished_runs AS (
    SELECT DISTINCT sessions.run_id
    FROM sessions
    ANTI JOIN erasures ON erasures.session_id = sessions.session_id
    CROSS JOIN (SELECT unnest($judges::VARCHAR[]) AS judge) AS asked
    ANTI JOIN sat ON sat.run_id = sessions.run_id AND sat.model = asked.judge
    ANTI JOIN judged ON judged.session_and_judge = sessions.session_id || '/' || asked.judge
    LEFT JOIN begun ON begun.run_id = sessions.run_id AND begun.judge = asked.judge
    WHERE sessions.is_simulated = $is_simulated
        AND (begun.judge IS NOT NULL OR sessions.run_id NOT IN (SELECT run_id FROM editions))
)

SELECT session_id, run_id, model, month
FROM sessions
ANTI JOIN erasures ON erasures.session_id = sessions.session_id
WHERE is_simulated = $is_simulated
    AND (run_id = $run_id::VARCHAR OR ($run_id::VARCHAR IS NULL AND run_id IN (SELECT run_id FROM unfinished_runs)))
ORDER BY month, session_id
