-- Which questions of the latest bank version are of a discipline, type and language?
-- One row per question, in order of question. A parameter that is null leaves nothing out.
-- Parameters: $discipline (default null), $question_type (default null), $language (default null)
SELECT
    question_uuid,
    bank_version,
    revision,
    lineage_uuid,
    parent_uuid,
    method,
    question_type,
    discipline,
    sub_discipline,
    source_kind,
    language,
    stem,
    material,
    options,
    answer,
    explanation,
    pictures
FROM current_bank
WHERE
    ($discipline IS NULL OR discipline = $discipline)
    AND ($question_type IS NULL OR question_type = $question_type)
    AND ($language IS NULL OR language = $language)
ORDER BY question_uuid
