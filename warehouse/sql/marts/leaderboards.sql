-- How do the candidates stand in each month?
-- One row per published run and candidate: its zero-shot row of style_scores, as frozen in the run's last edition. Simulated
-- candidates are ranked apart.
SELECT * EXCLUDE (prompt_style, lowest_score, highest_score, style_mean, style_variance, style_count)
FROM style_scores
WHERE prompt_style = 'zero_shot'
