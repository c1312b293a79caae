-- Which sessions speak in the edition of a run?
-- One row per session. To the sessions of the run itself come the closed ones of its reference candidate on the same sets
-- and styles: it answers a set once, and those answers serve later editions (is_borrowed). Borrowed is the last sitting
-- planned before the run; a later one serves only where there is no earlier one.
-- Parameters: $run_id
WITH run AS (
    SELECT * FROM runs WHERE run_id = $run_id
),

own AS (
    SELECT * FROM sessions WHERE run_id = $run_id
),

of_reference AS (
    SELECT s.*
    FROM sessions AS s
    JOIN runs AS sat_in ON sat_in.run_id = s.run_id
    CROSS JOIN run
    SEMI JOIN own ON own.set_id = s.set_id AND own.prompt_style = s.prompt_style
    WHERE s.model = run.reference_model AND s.status = 'closed' AND s.is_simulated = run.is_simulated
    QUALIFY rank() OVER (
        PARTITION BY s.set_id, s.prompt_style
        ORDER BY
            s.run_id = $run_id DESC,
            sat_in.planned_at <= run.planned_at DESC,
            abs(epoch(sat_in.planned_at) - epoch(run.planned_at)),
            s.run_id
    ) = 1
)

SELECT
    s.session_id,
    s.run_id AS sat_in_run_id,
    s.month AS sat_in_month,
    s.set_id,
    s.model,
    s.organisation,
    s.prompt_style,
    s.repeat,
    s.model = run.reference_model AS is_reference,
    s.run_id <> $run_id AS is_borrowed,
    s.status = 'closed' AS is_closed,
    s.question_count,
    s.is_simulated
FROM (
    SELECT * FROM own
    UNION ALL
    SELECT * FROM of_reference WHERE run_id <> $run_id
) AS s
CROSS JOIN run
ORDER BY s.session_id
