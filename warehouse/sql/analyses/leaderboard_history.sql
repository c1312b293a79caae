-- How did the candidates stand in every month, under every prompt style?
-- One row per published run, prompt style and candidate, latest month first: what the report shows.
-- Parameters: $simulated (default null)
-- Marks of: edition_id
-- No rows: nothing was published: `proctor monthly` examines, judges and publishes a month.
SELECT * EXCLUDE (is_shown_by_default)
FROM style_scores
WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
ORDER BY month DESC, is_repetition, run_id, prompt_style DESC, is_simulated, rank NULLS LAST, model
