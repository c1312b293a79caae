-- What is published of each run?
-- One row per run that was published: its last revision. Earlier revisions stay in `editions` and in every edition_ table.
-- is_shown_by_default is false for simulated editions as soon as there is one that is not.
SELECT
    * EXCLUDE (landing_unit),
    NOT is_simulated OR NOT (SELECT coalesce(bool_or(NOT is_simulated), false) FROM editions) AS is_shown_by_default
FROM editions
QUALIFY row_number() OVER (PARTITION BY month, run_id ORDER BY revision DESC) = 1
