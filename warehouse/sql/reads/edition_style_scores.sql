-- What did every candidate of an edition score, style by style, and of which family is it?
-- One row per candidate and prompt style, over all disciplines.
-- Parameters: $edition_id, $month
SELECT
    s.model,
    s.organisation,
    m.family,
    s.prompt_style,
    s.score,
    s.score_se,
    s.question_count
FROM edition_scores AS s
LEFT JOIN models AS m ON m.run_id = s.run_id AND m.model = s.model
WHERE s.month = $month AND s.edition_id = $edition_id AND s.discipline = 'all' AND s.score IS NOT NULL
ORDER BY s.prompt_style, s.model
