-- What stands in every question that was found in a paper, and where?
-- One row per question and document as review left it, in the order of the papers.
SELECT
    question_uuid,
    document_name,
    position,
    question_type,
    discipline,
    language,
    stem,
    material,
    options,
    answer,
    explanation
FROM current_questions
ORDER BY document_name, position, question_uuid
