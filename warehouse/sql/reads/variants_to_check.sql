-- What stands in every question that was made from another one, and how was it made?
-- One row per variant, in order of method and question.
SELECT
    question_uuid,
    parent_uuid,
    method,
    generator,
    question_type,
    discipline,
    language,
    stem,
    material,
    options,
    answer,
    explanation
FROM variants
ORDER BY method, question_uuid
