-- How has each family of models moved from one member to the next?
-- One row per candidate of a family, by release date: its latest score, and the step from the member released before it.
-- Parameters: $simulated (default null)
-- Marks of: month
-- No rows: no published candidate has a family: write `family` in models.yaml, then `proctor monthly`.
WITH latest AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
        AND family IS NOT NULL
    -- A month in which a discipline was missing has no score.
    QUALIFY row_number() OVER (PARTITION BY model, is_simulated ORDER BY score IS NULL, month DESC) = 1
)

SELECT
    family,
    organisation,
    model,
    mode,
    is_open,
    release_date,
    month,
    score,
    relative_score,
    lag(model) OVER members AS previous_model,
    score - lag(score) OVER members AS score_step,
    date_diff('day', lag(release_date) OVER members, release_date) AS days_since_previous,
    is_simulated
FROM latest
-- Two organisations may have a family of one name.
WINDOW members AS (PARTITION BY organisation, family, is_simulated ORDER BY release_date NULLS FIRST, model)
ORDER BY family, organisation, release_date NULLS FIRST, model
