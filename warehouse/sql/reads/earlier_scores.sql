-- Where did these candidates last stand before a month?
-- One row per candidate and prompt style: its latest published edition of an earlier month, repetitions left out.
-- Parameters: $models, $month, $is_simulated
SELECT s.model, s.prompt_style, s.edition_id, s.month, s.score
FROM edition_scores AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE s.discipline = 'all'
    AND s.month < $month
    AND s.is_simulated = $is_simulated
    AND NOT e.is_repetition
    AND s.score IS NOT NULL
    AND list_contains($models, s.model)
QUALIFY row_number() OVER (PARTITION BY s.model, s.prompt_style ORDER BY s.month DESC) = 1
ORDER BY s.model, s.prompt_style
