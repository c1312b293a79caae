-- Which sessions speak in each edition (run)?
-- One row per edition and closed session. To the sessions of the run itself come those of its reference candidate on the
-- same sets and styles: it answers a set once, and those answers serve later editions (is_borrowed).
-- Borrowed is the last sitting planned before the edition, so that a later one does not change what was published;
-- a later sitting serves only where there is no earlier one.
WITH closed_sessions AS (
    SELECT s.*, runs.planned_at
    FROM sessions AS s
    JOIN runs ON runs.run_id = s.run_id
    WHERE s.status = 'closed'
),

sittings AS (
    SELECT DISTINCT
        s.run_id, runs.month, s.set_id, s.prompt_style, runs.reference_model, runs.planned_at, s.is_simulated
    FROM closed_sessions AS s
    JOIN runs ON runs.run_id = s.run_id
),

-- A run's own sitting of the set by the reference is preferred to any other.
reference_sessions AS (
    SELECT
        e.run_id AS edition_run_id,
        e.month AS edition_month,
        e.planned_at AS edition_planned_at,
        s.*
    FROM sittings AS e
    JOIN closed_sessions AS s
        ON s.model = e.reference_model
        AND s.set_id = e.set_id
        AND s.prompt_style = e.prompt_style
        AND s.is_simulated = e.is_simulated
    QUALIFY rank() OVER (
        PARTITION BY e.run_id, e.set_id, e.prompt_style
        ORDER BY
            s.run_id = e.run_id DESC,
            s.planned_at <= e.planned_at DESC,
            abs(epoch(s.planned_at) - epoch(e.planned_at)),
            s.run_id
    ) = 1
),

own_sessions AS (
    SELECT s.run_id AS edition_run_id, runs.month AS edition_month, runs.planned_at AS edition_planned_at, s.*
    FROM closed_sessions AS s
    JOIN runs ON runs.run_id = s.run_id
)

SELECT
    e.edition_run_id AS run_id,
    e.edition_month AS month,
    e.edition_planned_at AS planned_at,
    runs.reference_model,
    runs.bank_version,
    e.session_id,
    e.set_id,
    e.model,
    e.organisation,
    e.prompt_style,
    e.repeat,
    e.run_id AS sat_in_run_id,
    e.run_id <> e.edition_run_id AS is_borrowed,
    e.model = runs.reference_model AS is_reference,
    e.is_simulated
FROM (
    SELECT * FROM own_sessions
    UNION ALL
    SELECT * FROM reference_sessions WHERE run_id <> edition_run_id
) AS e
JOIN runs ON runs.run_id = e.edition_run_id
