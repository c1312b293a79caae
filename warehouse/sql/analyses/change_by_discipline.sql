-- In which disciplines, and on which questions, did a candidate's score move since its last month?
-- One row per candidate of the month and discipline. points is what the discipline adds to the change of S (its weight times the
-- change of its score of 0 to 100); the interval holds the errors of both months (their intervals, squared and added: Newcombe 1998). New questions and anchors (which other organisations
-- had answered in earlier months) stand apart, each with the mean of the others who were put the same questions: where the others do
-- as badly on the new ones, the questions were hard; where they do not, the candidate has grown worse.
-- Parameters: $model (default null), $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null month is the latest, a null model every candidate; the largest loss first. Candidates that sat for the first time have no change. Repetitions of a month are left out.
-- Shown: model, discipline, previous_month, score_change, points, new_score, new_others_score, anchor_score, anchor_others_score
-- Marks of: edition_id
-- No rows: no candidate has two published months: `proctor monthly --month YYYY-MM` publishes a further one.
WITH chosen AS (
    SELECT e.edition_id, e.month
    FROM current_editions AS e
    WHERE NOT e.is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT e.is_simulated, e.is_shown_by_default)
        AND e.month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
),

marks AS (
    SELECT
        s.edition_id,
        s.model,
        s.is_simulated,
        s.discipline,
        s.question_uuid,
        coalesce(sets.is_anchor, FALSE) AS is_anchor,
        (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count)
            / (s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count + s.unparsed_count) / 3 * 100 AS mark
    FROM edition_stars AS s
    JOIN chosen AS c ON c.edition_id = s.edition_id AND c.month = s.month
    LEFT JOIN sets ON sets.set_id = s.set_id AND sets.lineage_uuid = s.lineage_uuid
    WHERE s.prompt_style = $prompt_style
        AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, TRUE)
),

beside AS (
    SELECT
        *,
        (sum(mark::DECIMAL(38, 18)) OVER same - mark) / nullif(count(*) OVER same - 1, 0) AS others_mark
    FROM marks
    WINDOW same AS (PARTITION BY edition_id, is_simulated, question_uuid)
),

halves AS (
    SELECT
        edition_id,
        model,
        is_simulated,
        discipline,
        count(*) FILTER (NOT is_anchor) AS new_count,
        avg(mark::DECIMAL(38, 18)) FILTER (NOT is_anchor) AS new_score,
        avg(others_mark::DECIMAL(38, 18)) FILTER (NOT is_anchor) AS new_others_score,
        count(*) FILTER (is_anchor) AS anchor_count,
        avg(mark::DECIMAL(38, 18)) FILTER (is_anchor) AS anchor_score,
        avg(others_mark::DECIMAL(38, 18)) FILTER (is_anchor) AS anchor_others_score
    FROM beside
    GROUP BY edition_id, model, is_simulated, discipline
)

SELECT
    n.month,
    n.model,
    n.organisation,
    n.discipline,
    total.previous_month,
    n.score,
    n.score_low,
    n.score_high,
    old.score AS previous_score,
    n.score - old.score AS score_change,
    n.score - old.score - sqrt((n.score - n.score_low) ** 2 + (old.score_high - old.score) ** 2) AS score_change_low,
    n.score - old.score + sqrt((n.score_high - n.score) ** 2 + (old.score - old.score_low) ** 2) AS score_change_high,
    (e.weights ->> ('$."' || n.discipline || '"'))::DOUBLE * (n.score - old.score) AS points,
    coalesce(h.new_count, 0) AS new_count,
    round(h.new_score, 9) AS new_score,
    round(h.new_others_score, 9) AS new_others_score,
    coalesce(h.anchor_count, 0) AS anchor_count,
    round(h.anchor_score, 9) AS anchor_score,
    round(h.anchor_others_score, 9) AS anchor_others_score,
    n.edition_id,
    n.is_simulated
FROM edition_scores AS n
JOIN chosen AS c ON c.edition_id = n.edition_id AND c.month = n.month
JOIN editions AS e ON e.edition_id = n.edition_id
JOIN edition_scores AS total
    ON total.edition_id = n.edition_id
    AND total.month = n.month
    AND total.model = n.model
    AND total.prompt_style = n.prompt_style
    AND total.discipline = 'all'
LEFT JOIN edition_scores AS old
    ON old.edition_id = total.previous_edition_id
    AND old.month = total.previous_month
    AND old.model = n.model
    AND old.prompt_style = n.prompt_style
    AND old.discipline = n.discipline
LEFT JOIN halves AS h
    ON h.edition_id = n.edition_id
    AND h.model = n.model
    AND h.is_simulated = n.is_simulated
    AND h.discipline = n.discipline
WHERE n.prompt_style = $prompt_style
    AND n.discipline <> 'all'
    AND n.model = coalesce($model::VARCHAR, n.model)
    AND coalesce($simulated::BOOLEAN OR NOT n.is_simulated, TRUE)
ORDER BY n.is_simulated, n.model, points NULLS LAST, n.discipline
