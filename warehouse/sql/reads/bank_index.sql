-- From which questions can a run draw?
-- One row per question of the latest published bank version, with what a draw depends on and nothing that is asked. answer
-- is kept where it is the truth of a statement; passage is the same for questions that ask about the same text.
SELECT
    bank_version,
    question_uuid,
    revision,
    lineage_uuid,
    discipline,
    method,
    if(question_type = 'true_false', answer, NULL) AS answer,
    if(regexp_matches(material, '\S'), md5(regexp_replace(material, '\s+', '', 'g')), NULL) AS passage,
    coalesce(len(pictures), 0) > 0 AS has_pictures
FROM current_bank
