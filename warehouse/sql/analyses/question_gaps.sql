-- On which questions does a candidate stay furthest below the others?
-- One row per question that the candidate was put in a month, the largest gap first: its mean stars over the repeats, and those of
-- everybody else that was put the same question under the same prompt style; what nobody could judge counts 0, as in S. is_anchor: other
-- organisations had answered the question before. The texts of question and answers are in the bank and in responses.
-- Parameters: $model (default null), $month (default null), $discipline (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null model is the candidate with the highest S of the month; a null month is the latest that was published.
-- Shown: question_uuid, discipline, is_anchor, stars, stars_of_others, gap
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one; it needs two candidates.
WITH edition AS (
    SELECT edition_id, month
    FROM current_editions
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
        AND month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
),

asked_about AS (
    SELECT coalesce($model::VARCHAR, (
        SELECT arg_min(s.model, (-s.score, s.model))
        FROM edition_scores AS s
        JOIN edition AS e ON e.edition_id = s.edition_id AND e.month = s.month
        WHERE s.prompt_style = $prompt_style AND s.discipline = 'all' AND s.score IS NOT NULL
    )) AS model
),

marks AS (
    SELECT
        s.edition_id,
        s.month,
        s.model,
        s.set_id,
        s.question_uuid,
        s.lineage_uuid,
        s.discipline,
        s.is_simulated,
        (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count)
            / (s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count + s.unparsed_count) AS stars
    FROM edition_stars AS s
    JOIN edition AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = $prompt_style
        AND s.discipline = coalesce($discipline::VARCHAR, s.discipline)
)

SELECT
    own.month,
    own.model,
    own.question_uuid,
    own.discipline,
    any_value(sets.is_anchor) AS is_anchor,
    own.stars,
    avg(other.stars::DECIMAL(38, 18)) AS stars_of_others,
    own.stars - avg(other.stars::DECIMAL(38, 18)) AS gap,
    count(other.stars) AS other_count,
    own.lineage_uuid,
    own.edition_id,
    own.is_simulated
FROM marks AS own
JOIN asked_about AS a ON a.model = own.model
LEFT JOIN marks AS other
    ON other.edition_id = own.edition_id AND other.question_uuid = own.question_uuid AND other.model <> own.model
LEFT JOIN sets ON sets.set_id = own.set_id AND sets.question_uuid = own.question_uuid
GROUP BY
    own.month,
    own.model,
    own.question_uuid,
    own.discipline,
    own.stars,
    own.lineage_uuid,
    own.edition_id,
    own.is_simulated
ORDER BY gap NULLS LAST, own.question_uuid
