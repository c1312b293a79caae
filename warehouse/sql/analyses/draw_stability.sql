-- How stable are the scores when other questions are drawn for the exam itself?
-- One row per candidate of one month that sat more than one published run: S and R of each draw with its size, their means and
-- sample variances. Further draws are made by `proctor evaluate --draw SIZE`; resamples of one draw are in repeat_stability.
-- Parameters: $month (default null), $simulated (default null)
-- Shown: model, draw_count, set_sizes, relative_scores, relative_score_mean, relative_score_variance
-- Marks of: draws
-- No rows: no candidate sat two published runs of one month: `proctor evaluate --draw SIZE`, then `proctor judge --run RUN` and `proctor publish RUN`.
SELECT
    l.month,
    l.model,
    count(*) AS draw_count,
    list(e.set_size ORDER BY e.planned_at, e.run_id) AS set_sizes,
    list(l.relative_score ORDER BY e.planned_at, e.run_id) AS relative_scores,
    list(l.score ORDER BY e.planned_at, e.run_id) AS scores,
    avg(l.relative_score ORDER BY l.relative_score) AS relative_score_mean,
    var_samp(l.relative_score ORDER BY l.relative_score) AS relative_score_variance,
    avg(l.score ORDER BY l.score) AS score_mean,
    var_samp(l.score ORDER BY l.score) AS score_variance,
    avg(l.score_se ** 2 ORDER BY l.score_se) AS expected_score_variance,
    l.is_simulated
FROM leaderboards AS l
JOIN current_editions AS e ON e.edition_id = l.edition_id AND e.month = l.month
-- What the reference answered once, for several runs, is one draw.
SEMI JOIN edition_sessions AS own
    ON own.edition_id = l.edition_id AND own.month = l.month AND own.model = l.model AND own.prompt_style = 'zero_shot' AND NOT own.is_borrowed
WHERE coalesce($simulated::BOOLEAN OR NOT l.is_simulated, l.is_shown_by_default)
    AND l.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
GROUP BY l.month, l.model, l.is_simulated
HAVING count(*) > 1
ORDER BY relative_score_mean DESC NULLS LAST, l.model
