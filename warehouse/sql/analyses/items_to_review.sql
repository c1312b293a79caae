-- Which questions should an expert look at again, because their answers do not fit?
-- One row per question whose answers were far from what the model of the scores expects when it was last estimated, up to a month.
-- month: the edition's that estimated it. One that was corrected since then is not here: `proctor review assign --question` has one read again.
-- Parameters: $month (default null), $simulated (default null)
-- A null month is the latest that was published.
-- Shown: question_uuid, discipline, difficulty, discrimination, fit, answer_count
-- No rows: no question of a published month has answers that fit so badly; it takes answers of some dozens of candidates before one shows.
WITH items AS (
    SELECT i.*, e.bank_version
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
    month,
    question_uuid,
    lineage_uuid,
    discipline,
    difficulty,
    discrimination,
    fit,
    answer_count,
    first_month,
    is_simulated
FROM items
ANTI JOIN question_corrections AS c ON c.question_uuid = items.question_uuid AND items.bank_version < c.since_version
WHERE is_misfit
ORDER BY fit DESC, question_uuid
