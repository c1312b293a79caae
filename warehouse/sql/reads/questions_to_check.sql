-- What stands in every question that was found in a paper, and where?
-- One row per question and document, as its latest revision has it, in the order of the papers.
SELECT
    question_uuid,
    document_name,
    position,
    number_label,
    question_type,
    discipline,
    language,
    stem,
    material,
    options,
    answer,
    explanation
FROM questions
QUALIFY row_number() OVER (PARTITION BY question_uuid, document_id ORDER BY revision DESC) = 1
ORDER BY document_name, position, question_uuid
