-- How has each candidate's score moved from month to month?
-- One row per month and candidate on the leaderboard, repetitions of a month left out. Months without a session have no row:
-- nothing is carried forward, and the change is against the candidate's previous month, whichever that was.
-- score_change and its 95% interval are as frozen with the edition, and R is compared with that of the same earlier edition;
-- is_change_certain: the interval does not hold 0.
SELECT
    l.month,
    l.model,
    l.organisation,
    l.family,
    l.score,
    l.score_low,
    l.score_high,
    l.score_sd,
    l.relative_score,
    l.equated_score,
    l.reference_model,
    l.rank,
    s.previous_month,
    s.score_change,
    s.score_change_low,
    s.score_change_high,
    s.score_change_low > 0 OR s.score_change_high < 0 AS is_change_certain,
    if(l.reference_model = e.reference_model, l.relative_score - old.relative_score, NULL) AS relative_score_change,
    l.score - first_value(l.score IGNORE NULLS) OVER history AS score_change_since_first,
    l.judge,
    l.bank_version,
    l.is_provisional,
    l.is_repetition,
    l.is_simulated,
    l.is_shown_by_default
FROM leaderboards AS l
JOIN edition_scores AS s
    ON s.edition_id = l.edition_id
    AND s.month = l.month
    AND s.model = l.model
    AND s.prompt_style = 'zero_shot'
    AND s.discipline = 'all'
LEFT JOIN editions AS e ON e.edition_id = s.previous_edition_id
LEFT JOIN edition_scores AS old
    ON old.edition_id = s.previous_edition_id
    AND old.month = s.previous_month
    AND old.model = s.model
    AND old.prompt_style = 'zero_shot'
    AND old.discipline = 'all'
WHERE NOT l.is_repetition
WINDOW history AS (PARTITION BY l.model, l.is_simulated ORDER BY l.month)
