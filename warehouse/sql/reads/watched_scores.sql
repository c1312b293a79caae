-- What was published of a month, candidate by candidate and discipline by discipline?
-- One row per run, candidate and discipline (`all` for S), zero-shot, from the last edition of each run. score is on 0 to 100.
-- marks is what is to be known of the edition. sat_in_run_id is the run in which it was answered: the reference's sittings may be of an earlier one.
-- Parameters: $month
WITH sat AS (
    SELECT edition_id, model, any_value(sat_in_run_id) AS sat_in_run_id
    FROM edition_sessions
    WHERE month = $month AND prompt_style = 'zero_shot' AND is_complete
    GROUP BY edition_id, model
)

SELECT s.run_id, s.edition_id, s.model, s.discipline, s.score, s.score_low, s.score_high, s.question_count,
    s.rank, s.rank_low, s.rank_high, sat.sat_in_run_id, k.marks, coalesce(g.grade, 'self-attested') AS grade
FROM edition_scores AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
LEFT JOIN edition_marks AS k ON k.named_by = s.edition_id
LEFT JOIN edition_grades AS g ON g.edition_id = s.edition_id
LEFT JOIN sat ON sat.edition_id = s.edition_id AND sat.model = s.model
WHERE s.month = $month AND s.prompt_style = 'zero_shot'
ORDER BY e.is_repetition, s.run_id, s.discipline, s.rank NULLS LAST, s.model
