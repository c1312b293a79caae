-- Which questions are the hardest, and which tell candidates apart best?
-- One row per question that was put in a month or estimated up to it, the hardest first; with $by discrimination the most discriminating
-- first. difficulty is in logits (0 is average), discrimination how sharply the question separates; a question with few answers has large
-- errors of both, and neither where the model was not fitted. mean_stars is what the month's candidates earned on it, zero-shot, in all runs of the month; null where it was
-- not put in the month. Questions that do not fit are marked (is_misfit).
-- Parameters: $month (default null), $by (default difficulty), $least_answers (default 0), $simulated (default null)
-- A null month is the latest that was published.
-- Shown: question_uuid, discipline, difficulty, discrimination, mean_stars, answer_count
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
WITH sittings AS (
    SELECT s.*, e.is_repetition
    FROM edition_stars AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = 'zero_shot'
        AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
        AND s.month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
    -- What the reference answered once, for several runs of the month, counts once.
    QUALIFY row_number() OVER (
        PARTITION BY s.is_simulated, s.model, s.question_uuid, s.sat_in_run_id ORDER BY e.is_repetition, s.edition_id
    ) = 1
),

marks AS (
    SELECT
        arg_min(edition_id, (is_repetition, edition_id)) AS edition_id,
        month,
        question_uuid,
        any_value(lineage_uuid) AS lineage_uuid,
        any_value(discipline) AS discipline,
        sum(stars_1_count + 2 * stars_2_count + 3 * stars_3_count)
            / sum(stars_0_count + stars_1_count + stars_2_count + stars_3_count + unparsed_count) AS mean_stars,
        count(DISTINCT model) AS candidate_count,
        is_simulated
    FROM sittings
    GROUP BY month, question_uuid, is_simulated
),

items AS (
    SELECT i.*
    FROM edition_items AS i
    JOIN current_editions AS e ON e.edition_id = i.edition_id AND e.month = i.month
    WHERE coalesce($simulated::BOOLEAN OR NOT i.is_simulated, e.is_shown_by_default)
        AND i.month <= coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
    QUALIFY row_number() OVER (
        PARTITION BY i.question_uuid, i.is_simulated ORDER BY i.month DESC, e.planned_at DESC
    ) = 1
)

SELECT
    coalesce(m.month, i.month) AS month,
    coalesce(i.question_uuid, m.question_uuid) AS question_uuid,
    coalesce(i.lineage_uuid, m.lineage_uuid) AS lineage_uuid,
    coalesce(i.discipline, m.discipline) AS discipline,
    i.difficulty,
    i.difficulty_se,
    i.discrimination,
    i.discrimination_se,
    m.mean_stars,
    m.candidate_count,
    i.answer_count,
    i.first_month,
    i.is_misfit,
    coalesce(m.edition_id, i.edition_id) AS edition_id,
    coalesce(i.is_simulated, m.is_simulated) AS is_simulated
FROM items AS i
FULL JOIN marks AS m ON m.question_uuid = i.question_uuid AND m.is_simulated = i.is_simulated
WHERE coalesce(i.answer_count, 0) >= $least_answers::BIGINT
ORDER BY if($by = 'discrimination', i.discrimination, i.difficulty) DESC NULLS LAST, m.mean_stars, question_uuid, is_simulated
