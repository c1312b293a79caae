-- What was asked, and what is the reference answer?
-- One row per question: one, or none, as it stood in the bank version that was drawn from. For those who may see reference answers.
-- Parameters: $question_uuid, $bank_version
SELECT question_type, language, stem, material, options, answer, explanation, discipline, sub_discipline, source_kind, pictures
FROM bank_contents
WHERE question_uuid = $question_uuid AND from_version <= $bank_version::BIGINT
ORDER BY from_version DESC
LIMIT 1
