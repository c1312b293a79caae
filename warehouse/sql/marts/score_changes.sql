-- How has each candidate's score moved from month to month?
-- One row per month and candidate on the leaderboard. Months without a session have no row: nothing is carried forward, and
-- the change is against the candidate's previous month, whichever that was.
SELECT
    month,
    model,
    organisation,
    family,
    score,
    score_sd,
    relative_score,
    reference_model,
    rank,
    lag(month) OVER history AS previous_month,
    score - lag(score) OVER history AS score_change,
    CASE
        WHEN reference_model = lag(reference_model) OVER history THEN relative_score - lag(relative_score) OVER history
    END AS relative_score_change,
    score - first_value(score) OVER history AS score_change_since_first,
    judge,
    bank_version,
    is_provisional,
    is_simulated,
    is_shown_by_default
FROM leaderboards
WINDOW history AS (PARTITION BY model, is_simulated ORDER BY month)
