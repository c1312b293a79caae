-- Which candidates improved since a month, and is it more than noise?
-- One row per candidate that sat in two months from $since_month on: its first edition there, its latest, and the change of S with the
-- 95% interval of that change alone; the largest change first. The two editions put different questions, so that the errors of both are
-- in it. All candidates are told together: p_together allows for having looked at every one of them by the largest change that chance
-- makes (step-down max-t), together_low and together_high are the ends of an interval that holds for all at once in 95% of cases, and
-- verdict says in words whether a change is more than noise: the interval holds 0 exactly where it is not.
-- equated_change is the change of the equated score, which allows for harder or easier questions; null without a common scale.
-- Parameters: $since_month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null month is the first that was published, since which every publication computes it; `proctor improvement` does since another.
-- Repetitions of a month are left out.
-- Shown: model, from_month, to_month, change, together_low, together_high, verdict
-- Marks of: every month
-- No rows: it was not computed since that month, or before the last publication: `proctor improvement --since YYYY-MM` computes it where a candidate was published in two months.
WITH shown AS (
    SELECT is_simulated, min(month) AS first_month, max(month) AS last_month
    FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    GROUP BY is_simulated
),

published AS (
    SELECT s.model, s.prompt_style, s.month, s.is_simulated
    FROM edition_scores AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    -- Whose sittings are all borrowed, a reference's, has answered nothing in that month.
    ANTI JOIN (
        SELECT edition_id, month, model, prompt_style
        FROM edition_sessions
        WHERE is_complete
        GROUP BY edition_id, month, model, prompt_style
        HAVING bool_and(is_borrowed)
    ) AS borrowed
        ON borrowed.edition_id = s.edition_id AND borrowed.month = s.month AND borrowed.model = s.model AND borrowed.prompt_style = s.prompt_style
    WHERE s.discipline = 'all' AND s.score IS NOT NULL AND NOT e.is_repetition
)

SELECT
    i.model,
    i.organisation,
    i.from_month,
    i.to_month,
    i.from_score,
    i.to_score,
    i.change,
    i.change_low,
    i.change_high,
    i.p_value,
    i.p_together,
    i.together_low,
    i.together_high,
    CASE
        WHEN i.p_together IS NULL THEN 'no error is known'
        WHEN i.p_together > 0.05 THEN 'no more than noise'
        WHEN i.change > 0 THEN 'improved'
        ELSE 'got worse'
    END AS verdict,
    i.equated_change,
    i.month_count,
    i.is_simulated
FROM improvements AS i
JOIN shown ON shown.is_simulated = i.is_simulated
WHERE i.prompt_style = $prompt_style
    AND i.since_month = coalesce($since_month::VARCHAR, shown.first_month)
    -- What was computed before another month or a correction was published is not told any more.
    AND i.through_month = shown.last_month
    AND i.month_count = (
        SELECT count(*)
        FROM published AS p
        WHERE p.model = i.model
            AND p.prompt_style = i.prompt_style
            AND p.month >= i.since_month
            AND p.is_simulated = i.is_simulated
    )
    AND i.from_edition_id IN (SELECT edition_id FROM current_editions)
    AND i.to_edition_id IN (SELECT edition_id FROM current_editions)
ORDER BY i.is_simulated, i.change DESC, i.model
