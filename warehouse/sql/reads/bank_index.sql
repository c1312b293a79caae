-- From which questions can a run draw?
-- One row per question of the latest published bank version, with what a draw depends on and nothing that is asked. answer
-- is kept where it is the truth of a statement.
SELECT
    bank_version,
    question_uuid,
    revision,
    lineage_uuid,
    discipline,
    method,
    if(question_type = 'true_false', answer, NULL) AS answer
FROM current_bank
