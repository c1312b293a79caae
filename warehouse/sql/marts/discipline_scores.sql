-- How does each candidate do in each discipline?
-- One row per published run, candidate, prompt style and discipline, as frozen in the run's last edition. discipline_score is
-- on a 0 to 10 scale, mean of the repeats; over ten disciplines of equal weight the ten add up to S.
SELECT
    s.month,
    s.run_id,
    s.edition_id,
    s.model,
    s.organisation,
    s.prompt_style,
    s.discipline,
    s.score / 10 AS discipline_score,
    s.score_se / 10 AS discipline_score_se,
    s.score_low / 10 AS discipline_score_low,
    s.score_high / 10 AS discipline_score_high,
    s.relative_score,
    s.relative_se,
    s.repeat_count,
    s.item_count,
    s.question_count,
    s.scored_count,
    s.unparsed_count,
    e.is_repetition,
    s.is_simulated,
    e.is_shown_by_default
FROM edition_scores AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE s.discipline <> 'all'
